/** A value, or a function that returns the current one. */
export type Token = string | (() => string | undefined)

/** The value of `Authorization` for each request. */
export function authorizationOf(token: Token | undefined): () => string | undefined {
  return () => {
    const value = typeof token === 'function' ? token() : token
    return value === undefined ? undefined : `Bearer ${value}`
  }
}

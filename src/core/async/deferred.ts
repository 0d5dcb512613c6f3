/** A promise, and the functions that settle it. */
export interface Deferred<T> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (reason: unknown) => void
}

/** A promise that is settled from outside. A rejection without a waiter is ignored. Node 20 has no `Promise.withResolvers`. */
export function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((succeed, fail) => {
    resolve = succeed
    reject = fail
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}

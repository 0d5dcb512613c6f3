import type { Request, Response } from 'express'

/** The name of the session cookie. */
export const SESSION_COOKIE = 'sluice_session'

/**
 * The value of the session cookie; undefined without one. Several cookies of this name mean that a page of another
 * subdomain has set one of them. Then it is not known which one is ours, and none is used.
 */
export function sessionCookie({ headers }: Request): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    .map((pair) => pair.slice(SESSION_COOKIE.length + 1))
  return values.length === 1 ? values[0] : undefined
}

/**
 * Sets the session cookie. Scripts cannot read it, and browsers do not send it with requests from other sites.
 *
 * @param session.expiresAt in milliseconds since 1970
 */
export function setSessionCookie(
  { req, res }: { req: Request; res: Response },
  { token, expiresAt }: { token: string; expiresAt: number },
): void {
  res.append('Set-Cookie', cookie(req, `${SESSION_COOKIE}=${token}`, new Date(expiresAt)))
}

/** Removes the session cookie from the browser. */
export function clearSessionCookie({ req, res }: { req: Request; res: Response }): void {
  res.append('Set-Cookie', cookie(req, `${SESSION_COOKIE}=`, new Date(0)))
}

// `secure` also reads X-Forwarded-Proto of a proxy that TRUST_PROXY names.
function cookie({ secure }: Request, pair: string, expires: Date): string {
  const attributes = ['Path=/', `Expires=${expires.toUTCString()}`, 'HttpOnly', 'SameSite=Strict']
  return [pair, ...attributes, ...(secure ? ['Secure'] : [])].join('; ')
}

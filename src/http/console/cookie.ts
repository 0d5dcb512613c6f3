import type { Request, Response } from 'express'

/** The name of the session cookie. */
export const SESSION_COOKIE = 'sluice_session'
// What a sign-in at an identity provider needs at its end.
const OIDC_COOKIE = 'sluice_oidc'
// What the answer of a passkey is verified with.
const PASSKEY_COOKIE = 'sluice_passkey'

/**
 * The value of the session cookie; undefined without one. Several cookies of this name mean that a page of another
 * subdomain has set one of them. Then it is not known which one is ours, and none is used.
 */
export function sessionCookie(req: Request): string | undefined {
  return cookieNamed(req, SESSION_COOKIE)
}

/** The cookie of a sign-in at an identity provider, see {@link sessionCookie}. */
export function oidcCookie(req: Request): string | undefined {
  return cookieNamed(req, ofHost(req, OIDC_COOKIE))
}

/** The cookie of a request for a passkey, see {@link sessionCookie}. */
export function passkeyCookie(req: Request): string | undefined {
  return cookieNamed(req, ofHost(req, PASSKEY_COOKIE))
}

// A page of another subdomain cannot set a cookie with this prefix, which browsers accept over https alone.
function ofHost({ secure }: Request, name: string): string {
  return secure ? `__Host-${name}` : name
}

function cookieNamed({ headers }: Request, name: string): string | undefined {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
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
  res.append('Set-Cookie', cookie(req, `${SESSION_COOKIE}=${token}`, { expires: new Date(expiresAt) }))
}

/** Removes the session cookie from the browser. */
export function clearSessionCookie({ req, res }: { req: Request; res: Response }): void {
  res.append('Set-Cookie', cookie(req, `${SESSION_COOKIE}=`, { expires: new Date(0) }))
}

/**
 * Sets the cookie of a sign-in at an identity provider. Browsers also send it when the provider sends them back.
 *
 * @param value undefined removes the cookie
 * @param expiresAt in milliseconds since 1970
 */
export function setOidcCookie(
  { req, res }: { req: Request; res: Response },
  { value = '', expiresAt }: { value?: string; expiresAt: number },
): void {
  const expires = new Date(expiresAt)
  res.append('Set-Cookie', cookie(req, `${ofHost(req, OIDC_COOKIE)}=${value}`, { expires, sameSite: 'Lax' }))
}

/**
 * Sets the cookie of a request for a passkey.
 *
 * @param value undefined removes the cookie
 * @param expiresAt in milliseconds since 1970
 */
export function setPasskeyCookie(
  { req, res }: { req: Request; res: Response },
  { cookie: value = '', expiresAt }: { cookie?: string; expiresAt: number },
): void {
  const pair = `${ofHost(req, PASSKEY_COOKIE)}=${value}`
  res.append('Set-Cookie', cookie(req, pair, { expires: new Date(expiresAt) }))
}

// `secure` also reads X-Forwarded-Proto of a proxy that TRUST_PROXY names.
function cookie(
  { secure }: Request,
  pair: string,
  { expires, sameSite = 'Strict' }: { expires: Date; sameSite?: 'Strict' | 'Lax' },
): string {
  const attributes = ['Path=/', `Expires=${expires.toUTCString()}`, 'HttpOnly', `SameSite=${sameSite}`]
  return [pair, ...attributes, ...(secure ? ['Secure'] : [])].join('; ')
}

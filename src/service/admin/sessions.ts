import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { Problem } from '../../core/problem.ts'

/** Sessions of the operator over HTTP: signed in with `ADMIN_PASSWORD`, then identified by a token. */
export interface AdminSessions {
  /**
   * Exchanges the password for a token that is valid for twelve hours. The caller must limit how often it is called.
   * @returns `expiresAt` in milliseconds since 1970, exclusive
   * @throws Problem 401 for a wrong password, 403 when no password is configured
   */
  signIn(password: string): AdminSession
  /** Checks that an `Authorization` header is `Bearer <token>` of a valid session. @throws Problem 401, 403 as above */
  check(authorization: string | undefined): void
}

export interface AdminSession {
  token: string
  expiresAt: number
}

const SESSION_MS = 12 * 3_600_000
const NONCE_BYTES = 16
// Six bytes of milliseconds suffice for 8,900 years.
const TIME_BYTES = 6
const TOKEN = /^adm_([\w-]+)$/

/**
 * Stateless sessions: the token is an expiry time and a nonce, signed with a key that depends on the password. So all
 * processes accept it, and a changed password or `APP_SECRET` invalidates it.
 *
 * @param options.key 32 bytes, used only for this purpose
 */
export function createAdminSessions({
  password,
  key,
  now = Date.now,
}: {
  password: string | undefined
  key: Buffer
  now?: () => number
}): AdminSessions {
  const digest = (text: string | Buffer) => createHmac('sha256', key).update(text).digest()
  const own = password === undefined ? undefined : digest(`password:${password}`)

  function signed(claims: Buffer, ofPassword: Buffer): Buffer {
    return digest(Buffer.concat([Buffer.from('session:'), claims, ofPassword]))
  }

  function configured(): Buffer {
    if (own) return own
    throw new Problem({
      status: 403,
      code: 'sign_in_off',
      detail: 'Sign-in is disabled: ADMIN_PASSWORD is not set.',
    })
  }

  return {
    signIn(received) {
      const ofPassword = configured()
      // Digests have the same length for any input, as `timingSafeEqual` needs.
      if (!timingSafeEqual(digest(`password:${received}`), ofPassword)) throw wrongPassword()
      const expiresAt = now() + SESSION_MS
      const claims = Buffer.concat([Buffer.alloc(TIME_BYTES), randomBytes(NONCE_BYTES)])
      claims.writeUIntBE(expiresAt, 0, TIME_BYTES)
      const token = `adm_${Buffer.concat([claims, signed(claims, ofPassword)]).toString('base64url')}`
      return { token, expiresAt }
    },

    check(authorization) {
      const ofPassword = configured()
      if (authorization === undefined) throw notSignedIn('but received none')
      const [, token = ''] = /^Bearer +(\S+)$/i.exec(authorization.trim()) ?? []
      const bytes = Buffer.from(TOKEN.exec(token)?.[1] ?? '', 'base64url')
      const claims = bytes.subarray(0, TIME_BYTES + NONCE_BYTES)
      const signature = bytes.subarray(TIME_BYTES + NONCE_BYTES)
      const expected = signed(claims, ofPassword)
      if (signature.length !== expected.length || !timingSafeEqual(signature, expected))
        throw notSignedIn('but the token received is unknown; sign in')
      if (now() >= claims.readUIntBE(0, TIME_BYTES))
        throw notSignedIn('but the token received has expired; sign in again')
    },
  }
}

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="sluice admin"' }

function wrongPassword(): Problem {
  return new Problem({
    status: 401,
    code: 'wrong_password',
    detail: 'Wrong password.',
    headers: CHALLENGE,
  })
}

function notSignedIn(received: string): Problem {
  return new Problem({
    status: 401,
    code: 'not_signed_in',
    detail: `expected "Bearer <token>" of POST /v1/sign-in in the Authorization header ${received}`,
    headers: CHALLENGE,
  })
}

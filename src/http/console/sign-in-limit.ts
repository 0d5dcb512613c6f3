import { createHash } from 'node:crypto'
import type { Request, Response } from 'express'
import { foldedEmail } from '../../core/members/member.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { KnownAddresses } from '../../service/admin/known-addresses.ts'
import { clientIp } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'

interface Dependencies {
  limits: Limits
  knownAddresses: KnownAddresses
}

/**
 * Counts an attempt to sign in: by IP address, then by email address, or for all attempts with `ADMIN_PASSWORD`. It is
 * called before the password is compared: a limit that a correct guess bypasses would be no limit. Attempts by others
 * do not lock out a member: an address from which the member has signed in before is limited by itself alone.
 *
 * @throws Problem 429
 */
export async function limitSignIn(
  { req, res }: { req: Request; res: Response },
  email: string | undefined,
  { limits, knownAddresses }: Dependencies,
): Promise<void> {
  await consumeRateLimit(req, res, {
    limits,
    limited: 'sign_in',
    account: email === undefined ? undefined : accountOf(email),
    isKnownAddress: () => knownAddresses.isKnown(knownAs(req, email)),
  })
}

// All people of an office may have one IP address, and successful sign-ins count too.
const TIMES_OF_PASSWORDS = 10

/**
 * The limiter of IP addresses for attempts without a password; undefined without a limit by IP address. Its counters are not those of
 * passwords, which must work while other attempts are refused.
 */
export function limiterOf(kind: 'oidc' | 'passkey', { sign_in: { byAddress, byClientWith } }: Limits) {
  if (!byAddress) return undefined
  const shared = byClientWith(byAddress.points * TIMES_OF_PASSWORDS)
  return { ...shared, consume: (address: string) => shared.consume(`${kind} ${address}`) }
}

/** Counts an answer of a passkey by IP address: it need not name an account, and a signature cannot be guessed. @throws Problem 429 */
export async function limitPasskey(
  { req, res }: { req: Request; res: Response },
  { limits }: Pick<Dependencies, 'limits'>,
): Promise<void> {
  const byAddress = limiterOf('passkey', limits)
  if (!byAddress) return
  const own = { ...limits, sign_in: { byClientWith: limits.sign_in.byClientWith, byAddress } }
  await consumeRateLimit(req, res, { limits: own, limited: 'sign_in' })
}

/** To be called after a sign-in: from then on, attempts of others do not limit this member from this IP address. */
export function rememberSignIn(
  req: Request,
  email: string | undefined,
  { knownAddresses }: Pick<Dependencies, 'knownAddresses'>,
): Promise<void> {
  return knownAddresses.remember(knownAs(req, email))
}

function knownAs(req: Request, email: string | undefined): string {
  return email === undefined ? clientIp(req) : `${clientIp(req)} ${accountOf(email)}`
}

/** A digest, so that the length of a key is bounded, and Redis holds no email address. */
function accountOf(email: string): string {
  return `member ${createHash('sha256').update(foldedEmail(email)).digest('base64url').slice(0, 22)}`
}

/**
 * Rejects requests from pages of other sites, which could use up the attempts of a visitor's IP address.
 *
 * @see https://www.w3.org/TR/fetch-metadata/#sec-fetch-site-header
 * @throws Problem 403
 */
export function checkNotCrossSite({ headers }: Request): void {
  if (headers['sec-fetch-site'] !== 'cross-site') return
  throw new Problem({
    status: 403,
    code: 'cross_site',
    detail: 'Sign-in from a page of another site is not allowed.',
  })
}

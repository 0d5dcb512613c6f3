import type { Request, Response } from 'express'
import type { Log } from '../../../core/log.ts'
import { type AuditLog, REFUSED_SIGN_IN } from '../../../core/ports/audit-log.ts'
import type { Limits } from '../../../core/ports/rate-limiter.ts'
import { Problem } from '../../../core/problem.ts'
import { type Refusal, SignInRefused } from '../../../service/members/organisation/refusals.ts'
import { consumeRateLimit } from '../../caller/rate-limit.ts'
import { addOwnEntry } from '../audited-by.ts'

/**
 * Counts an attempt by IP address alone. A person cannot guess anything here, but each attempt can cause requests to the provider.
 *
 * @throws Problem 429
 */
export async function limitOidc(
  { req, res }: { req: Request; res: Response },
  { limits }: { limits: Limits },
): Promise<void> {
  await consumeRateLimit(req, res, { limits, limited: 'sign_in', isKnownAddress: async () => true })
}

/** Refusals without a person: other pages can cause them in any browser, so they are not audited. */
const UNAUDITED: readonly Refusal[] = ['expired', 'unavailable', 'busy', 'failed']

/** The reason that the sign-in page shows. @throws the error when it is a fault of this service */
export function noteRefusal(
  req: Request,
  error: unknown,
  { audit, log }: { audit: AuditLog; log: Log },
): Refusal {
  if (error instanceof Problem) {
    if (error.status === 429) return 'busy'
    log.warn({ err: error }, 'a sign-in with OIDC_ISSUER failed')
    return 'failed'
  }
  if (!(error instanceof SignInRefused)) throw error
  const { refusal, person } = error
  if (UNAUDITED.includes(refusal)) return refusal
  const { id, name } = person ?? {}
  addOwnEntry(req, {
    audit,
    action: REFUSED_SIGN_IN,
    member: id === undefined || name === undefined ? undefined : { id, name },
    details: { by: 'oidc', reason: refusal, ...(name === undefined ? {} : { person: name }) },
  })
  return refusal
}

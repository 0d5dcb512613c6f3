import type { Request } from 'express'
import type { Log } from '../../../core/log.ts'
import { type AuditLog, REFUSED_SIGN_IN } from '../../../core/ports/audit-log.ts'
import type { Limits } from '../../../core/ports/rate-limiter.ts'
import { Problem } from '../../../core/problem.ts'
import { type Refusal, SignInRefused } from '../../../service/members/organisation/refusals.ts'
import { clientIp } from '../../caller/client-ip.ts'
import { addOwnEntry } from '../audited-by.ts'

/**
 * Refuses further attempts of an IP address after too many refused ones, since each can cause requests to the provider. Successful ones
 * do not count: all people of an office may have one IP address.
 *
 * @throws SignInRefused `busy`
 */
export async function checkAttempts(req: Request, { limits }: { limits: Limits }): Promise<void> {
  const verdict = await limits.sign_in.byAddress?.look(clientIp(req))
  if (verdict && !verdict.allowed) throw new SignInRefused('busy')
}

/** Refusals without a person: other pages can cause them in any browser, so they are not audited. */
const UNAUDITED: readonly Refusal[] = ['expired', 'unavailable', 'busy', 'failed']

/** The reason that the sign-in page shows. @throws the error when it is a fault of this service */
export async function noteRefusal(
  req: Request,
  error: unknown,
  { audit, limits, log }: { audit: AuditLog; limits: Limits; log: Log },
): Promise<Refusal> {
  if (error instanceof Problem) {
    log.warn({ err: error }, 'a sign-in with OIDC_ISSUER failed')
    return 'failed'
  }
  if (!(error instanceof SignInRefused)) throw error
  const { refusal, person } = error
  if (UNAUDITED.includes(refusal)) return refusal
  await limits.sign_in.byAddress?.charge(clientIp(req), 1)
  const { id, name } = person ?? {}
  addOwnEntry(req, {
    audit,
    action: REFUSED_SIGN_IN,
    member: id === undefined || name === undefined ? undefined : { id, name },
    details: { by: 'oidc', reason: refusal, ...(name === undefined ? {} : { person: name }) },
  })
  return refusal
}

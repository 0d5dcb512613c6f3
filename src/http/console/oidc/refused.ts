import type { Request } from 'express'
import type { Log } from '../../../core/log.ts'
import { type AuditLog, REFUSED_SIGN_IN } from '../../../core/ports/audit-log.ts'
import type { Limits } from '../../../core/ports/rate-limiter.ts'
import { type Refusal, SignInRefused } from '../../../service/members/organisation/refusals.ts'
import { clientIp } from '../../caller/client-ip.ts'
import { addOwnEntry } from '../audited-by.ts'
import { limiterOf } from '../sign-in-limit.ts'

/** Counts an attempt of an IP address, before it causes requests to the provider. @throws SignInRefused `busy` */
export async function countAttempt(req: Request, { limits }: { limits: Limits }): Promise<void> {
  const verdict = await limiterOf('oidc', limits)?.consume(clientIp(req))
  if (verdict?.allowed === false) throw new SignInRefused('busy')
}

/** Refusals without an answer of the provider: they are frequent while it is down, and other pages can cause them. */
const UNAUDITED: readonly Refusal[] = ['expired', 'unavailable', 'busy', 'failed']

/** The reason that the sign-in page shows. */
export function noteRefusal(
  req: Request,
  error: unknown,
  { audit, log }: { audit: AuditLog; log: Log },
): Refusal {
  // A browser would show the person a problem as JSON.
  if (!(error instanceof SignInRefused)) {
    log.warn({ err: error }, 'a sign-in with OIDC_ISSUER failed')
    return 'failed'
  }
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

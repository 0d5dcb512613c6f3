import type { Request } from 'express'
import { OPERATOR_ID } from '../../core/members/member.ts'
import type { AuditEntry } from '../../core/ports/audit-log.ts'
import { Problem } from '../../core/problem.ts'
import { clientIp } from '../caller/client-ip.ts'
import { stateOf } from '../request-state.ts'

/** The person of a request, for the audit log: the member of the console, or the operator with a token of `POST /v1/sign-in`. */
export function auditedBy(req: Request): Pick<AuditEntry, 'member' | 'address'> {
  const { id, name } = stateOf(req).console?.session?.member ?? { id: OPERATOR_ID, name: OPERATOR_ID }
  return { member: { id, name }, address: clientIp(req) }
}

/** Notes the outcomes of a request for several files, for its entry in the audit log: the first file, and how many were changed. */
export function noteOutcomes(req: Request, outcomes: ReadonlyArray<{ path: string; done: unknown }>): void {
  const changed = outcomes.filter(({ done }) => !(done instanceof Problem))
  const [first] = changed
  stateOf(req).audited = { ...(first ? { target: first.path } : {}), details: { files: changed.length } }
}

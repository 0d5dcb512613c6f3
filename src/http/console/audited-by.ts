import type { Request } from 'express'
import { OPERATOR_ID } from '../../core/members/member.ts'
import type { AuditEntry, AuditLog } from '../../core/ports/audit-log.ts'
import { Problem } from '../../core/problem.ts'
import type { UploadedFile } from '../../service/upload/upload-request.ts'
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

/**
 * Adds stored files to the audit log: the first file, and how many there are. At once, because a client that disconnects now gets no
 * response, but the files are stored.
 */
export function noteStored(req: Request, stored: readonly UploadedFile[]): void {
  const state = stateOf(req)
  const [first] = stored
  state.audited = {
    action: 'file.upload',
    ...(first ? { target: first.name.key } : {}),
    details: { files: stored.length },
  }
  state.addAuditEntry?.()
}

/** Adds a sign-in, or a change of the own account, to the audit log. @param options.member undefined when it is not known who it is */
export function addOwnEntry(
  req: Request,
  {
    audit,
    action,
    member,
    details,
  }: {
    audit: AuditLog
    action: string
    member: { id: string; name: string } | undefined
    details?: AuditEntry['details']
  },
): void {
  audit.add({
    member: member ? { id: member.id, name: member.name } : null,
    address: clientIp(req),
    action,
    ...(details ? { details } : {}),
  })
}

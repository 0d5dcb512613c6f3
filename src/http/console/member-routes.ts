import { type Request, Router } from 'express'
import type { AuditLog } from '../../core/ports/audit-log.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import type { IssuedLink } from '../../service/members/links.ts'
import type { Members } from '../../service/members/members.ts'
import { linkUrl } from '../../service/members/sign-in-link.ts'
import { jsonBody } from '../body/json.ts'
import { checkOperator } from '../caller/operator.ts'
import { methodNotAllowed } from '../problem.ts'
import { iso, memberToWire } from '../wire/members.ts'
import { auditedBy } from './audited-by.ts'
import { readMemberChange, readNewMember } from './member-request.ts'

interface Dependencies {
  adminSessions: Pick<AdminSessions, 'check'>
  members: Members
  audit: AuditLog
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// Two hundred IDs of clients.
const BODY_MAX_BYTES = 16 * 1024

/** `/v1/members`: members and their invitations, for owners. */
export function memberRoutes(dependencies: Dependencies): Router {
  const { adminSessions, members, audit, baseUrl, minBytesPerSecond } = dependencies
  const routes = Router({ strict: true, caseSensitive: true })
  const body = (req: Request) => jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
  const shown = (link: IssuedLink) => ({ link: linkUrl(link, baseUrl), expiresAt: iso(link.expiresAt) })
  const note = (
    req: Request,
    {
      action,
      id,
      ...details
    }: { action: string; id: string; email: string; role?: string; clients?: unknown },
  ) => audit.add({ ...auditedBy(req), action, target: id, details })

  routes.use('/v1/members', (req, res, next) => {
    checkOperator(req, adminSessions)
    res.setHeader('Cache-Control', 'no-store')
    next()
  })
  routes.get('/v1/members', async (_req, res) => {
    res.json({ members: (await members.list()).map(memberToWire) })
  })
  routes.post('/v1/members', async (req, res) => {
    const { member, link } = await members.invite(readNewMember(await body(req)))
    const { id, email, role, clients } = member
    note(req, { action: 'member.invite', id, email, role, clients })
    res.json({ member: memberToWire(member), ...shown(link) })
  })
  routes.all('/v1/members', methodNotAllowed('GET', 'HEAD', 'POST'))
  routes.patch('/v1/members/:id', async (req, res) => {
    const member = await members.update(req.params.id, readMemberChange(await body(req)))
    const { id, email, role, clients } = member
    note(req, { action: 'member.update', id, email, role, clients })
    res.json(memberToWire(member))
  })
  routes.delete('/v1/members/:id', async (req, res) => {
    const { id, email } = await members.remove(req.params.id)
    note(req, { action: 'member.remove', id, email })
    res.status(204).end()
  })
  routes.all('/v1/members/:id', methodNotAllowed('PATCH', 'DELETE'))
  routes.post('/v1/members/:id/link', async (req, res) => {
    const { member, link } = await members.link(req.params.id)
    note(req, { action: 'member.link', id: member.id, email: member.email })
    res.json(shown(link))
  })
  routes.all('/v1/members/:id/link', methodNotAllowed('POST'))
  return routes
}

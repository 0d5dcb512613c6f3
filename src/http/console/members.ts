import type { Request } from 'express'
import { z } from 'zod'
import { ROLES } from '../../core/members/member.ts'
import type { AuditLog } from '../../core/ports/audit-log.ts'
import { badParameter } from '../../core/problem.ts'
import type { IssuedLink } from '../../service/members/links.ts'
import type { ListedMember, Members } from '../../service/members/members.ts'
import { linkUrl } from '../../service/members/sign-in-link.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, named, replyOf } from '../endpoint/named.ts'
import { instant, iso } from '../wire/instant.ts'
import { auditedBy } from './audited-by.ts'
import { email, name, newEmail, newName, role } from './fields.ts'

/** The services that handle these requests. */
export interface Services {
  members: Members
  audit: AuditLog
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

// As many as an installation may reasonably list one by one; beyond that, a member sees all.
const CLIENTS_MAX = 200
// Two hundred IDs of clients.
const BODY_MAX_BYTES = 16 * 1024

const member = replyOf('Member', 'A member of the console.', {
  id: z.string().describe('ID of the member.'),
  email,
  name,
  role,
  clients: z.union([z.literal('all'), z.array(z.string())]).describe('The clients that the member may see.'),
  createdAt: instant('When the member was invited.'),
  lastSeenAt: instant('When the member last used the console, within ten minutes.').optional(),
  invitedUntil: instant('When the invitation expires. Absent: it was accepted.').optional(),
  organisation: z.literal(true).describe('The member signs in with the organisation.').optional(),
  passkeys: z.int().min(1).describe('How many passkeys there are. Absent: none.').optional(),
  passkeyOnly: z.literal(true).describe('The member has passkeys, and no password.').optional(),
})
const memberList = named('MemberList', z.object({ members: z.array(member).describe('The oldest first.') }))
const newMemberLink = replyOf('NewMemberLink', 'A link for a new password.', {
  link: z.string().describe('URL to send to the member. It is only in this response.'),
  expiresAt: instant('When the link expires.'),
})
const invitedMember = replyOf('InvitedMember', 'A new member, and the link of the invitation.', {
  member,
  ...newMemberLink.shape,
})

const newRole = z.enum(ROLES, 'viewer, editor or owner').describe('What the member may do.')
const newClients = z
  .union([z.literal('all'), z.array(z.string()).max(CLIENTS_MAX)], '"all", or at most 200 IDs of clients')
  .describe('The clients that the member may see. An owner sees all.')
const newMember = bodyOf('NewMember', {
  email: newEmail,
  name: newName.optional(),
  role: newRole,
  clients: newClients.default('all'),
})
const memberChange = bodyOf('MemberChange', {
  name: newName.optional(),
  role: newRole.optional(),
  clients: newClients.optional(),
})

const ID = { id: EXAMPLE.memberId }
const EXAMPLE_MEMBER = {
  id: EXAMPLE.memberId,
  email: 'ada@example.com',
  name: 'Ada',
  role: 'editor',
  clients: [EXAMPLE.clientId],
  createdAt: '2026-11-30T12:00:00.000Z',
  invitedUntil: '2026-12-07T12:00:00.000Z',
}
const EXAMPLE_LINK = {
  link: `${EXAMPLE.baseUrl}/dashboard/welcome#${EXAMPLE.memberLink}`,
  expiresAt: '2026-12-07T12:00:00.000Z',
}

const listMembers = endpoint({
  route: 'GET /v1/members',
  id: 'listMembers',
  tag: 'Members',
  summary: 'List all members',
  access: 'admin',
  responses: { 200: json(memberList, 'All members.') },
  examples: [{ id: 'all', summary: 'All members', status: 200 }],

  async handle({ members }: Services) {
    const list: z.input<typeof memberList> = { members: (await members.list()).map(memberToWire) }
    return { json: list }
  },
})

const inviteMember = endpoint({
  route: 'POST /v1/members',
  id: 'inviteMember',
  tag: 'Members',
  summary: 'Invite a member',
  description: 'No email is sent: give the link to the member. It expires after 7 days.',
  access: 'admin',
  body: newMember,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: {
    200: json(invitedMember, 'The member and the link of the invitation, which is only in this response.'),
  },
  problems: ['409 email_taken', '409 too_many_members'],
  examples: [
    {
      id: 'editor',
      summary: 'An editor of one client',
      body: { email: 'grace@example.com', name: 'Grace', role: 'editor', clients: [EXAMPLE.clientId] },
      status: 200,
      response: { member: { ...EXAMPLE_MEMBER, email: 'grace@example.com', name: 'Grace' }, ...EXAMPLE_LINK },
    },
  ],

  async handle(services: Services, { req, body }) {
    const { member: invited, link } = await services.members.invite(body)
    const { id, email: address, role: own, clients } = invited
    addMemberEntry(req, services, { action: 'member.invite', id, email: address, role: own, clients })
    const reply: z.input<typeof invitedMember> = { member: memberToWire(invited), ...shown(link, services) }
    return { json: reply }
  },
})

const updateMember = endpoint({
  route: 'PATCH /v1/members/:id',
  id: 'updateMember',
  tag: 'Members',
  summary: 'Change the name, the role or the clients of a member',
  access: 'admin',
  body: memberChange,
  bodyMaxBytes: BODY_MAX_BYTES,
  responses: { 200: json(member, 'The member.') },
  problems: ['404 member_not_found', '409 last_owner'],
  examples: [
    {
      id: 'viewer',
      summary: 'Another role',
      parameters: ID,
      body: { role: 'viewer' },
      status: 200,
      response: { ...EXAMPLE_MEMBER, role: 'viewer' },
    },
  ],

  async handle(services: Services, { req, params, body }) {
    const changes = Object.entries(body).filter(([, value]) => value !== undefined)
    if (changes.length === 0)
      throw badParameter({ param: 'the body', expected: 'a name, a role or clients', received: body })
    const changed = await services.members.update(params.id ?? '', Object.fromEntries(changes))
    const { id, email: address, role: own, clients } = changed
    addMemberEntry(req, services, { action: 'member.update', id, email: address, role: own, clients })
    return { json: memberToWire(changed) }
  },
})

const removeMember = endpoint({
  route: 'DELETE /v1/members/:id',
  id: 'removeMember',
  tag: 'Members',
  summary: 'Remove a member, and end their sessions',
  access: 'admin',
  responses: { 204: { description: 'Done.', headers: ['Cache-Control'] } },
  problems: ['404 member_not_found', '409 last_owner'],
  examples: [{ id: 'ada', summary: 'A member', parameters: ID, status: 204 }],

  async handle(services: Services, { req, params }) {
    const { id, email: address } = await services.members.remove(params.id ?? '')
    addMemberEntry(req, services, { action: 'member.remove', id, email: address })
    return {}
  },
})

const linkMember = endpoint({
  route: 'POST /v1/members/:id/link',
  id: 'linkMember',
  tag: 'Members',
  summary: 'Create a link for a new password, or a new invitation',
  description: 'A new password by the link ends all sessions of the member, and removes all passkeys.',
  access: 'admin',
  responses: { 200: json(newMemberLink, 'The link, which is only in this response.') },
  problems: ['404 member_not_found', '409 no_password'],
  examples: [{ id: 'ada', summary: 'A link', parameters: ID, status: 200, response: EXAMPLE_LINK }],

  async handle(services: Services, { req, params }) {
    const { member: of, link } = await services.members.link(params.id ?? '')
    addMemberEntry(req, services, { action: 'member.link', id: of.id, email: of.email })
    return { json: shown(link, services) }
  },
})

/** Members of the console and their invitations, for owners. */
export const MEMBERS = [listMembers, inviteMember, updateMember, removeMember, linkMember]

function shown(link: IssuedLink, { baseUrl }: Services): z.input<typeof newMemberLink> {
  return { link: linkUrl(link, baseUrl), expiresAt: iso(link.expiresAt) }
}

function addMemberEntry(
  req: Request,
  { audit }: Services,
  { action, id, ...details }: { action: string; id: string; email: string; role?: string; clients?: unknown },
): void {
  audit.add({ ...auditedBy(req), action, target: id, details })
}

function memberToWire(one: ListedMember): z.input<typeof member> {
  const { id, email: address, name: of, role: own, clients, createdAt, lastSeenAt, invitedUntil } = one
  const { isOfOrganisation, passkeys, isPasskeyOnly } = one
  return {
    id,
    email: address,
    name: of,
    role: own,
    clients: clients === 'all' ? 'all' : [...clients],
    createdAt: iso(createdAt),
    ...(lastSeenAt === undefined ? {} : { lastSeenAt: iso(lastSeenAt) }),
    ...(invitedUntil === undefined ? {} : { invitedUntil: iso(invitedUntil) }),
    ...(isOfOrganisation ? { organisation: true } : {}),
    ...(passkeys > 0 ? { passkeys } : {}),
    ...(isPasskeyOnly ? { passkeyOnly: true } : {}),
  }
}

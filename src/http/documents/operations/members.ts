import type { z } from 'zod'
import {
  linkToken,
  linkUse,
  memberChange,
  newMember,
  newSession,
  sessionChange,
} from '../../console/member-request.ts'
import { invitedMember, member, memberLink, memberList, newMemberLink, session } from '../../wire/members.ts'
import type { Endpoint, Success } from '../endpoint.ts'
import { EXAMPLE } from '../examples.ts'
import type { HeaderName } from '../headers.ts'
import { flag } from '../parameters.ts'

const ok = (
  description: string,
  schema: z.ZodType,
  headers: readonly HeaderName[] = [],
): Readonly<Record<number, Success>> => ({
  200: { description, content: { 'application/json': { schema } }, headers: ['Cache-Control', ...headers] },
})
const SESSION = ok('The session.', session, ['Set-Cookie'])
const DELETED: Readonly<Record<number, Success>> = {
  204: { description: 'Done.', headers: ['Cache-Control'] },
}

const ID = { id: EXAMPLE.memberId }
const SHOP = { id: EXAMPLE.clientId, name: 'Shop', token: EXAMPLE.token, signedUrls: false }
const FIRST = { id: 'first', token: 'pub_VXk2c7BbGZyT4hRqNwMdLs', signedUrls: false }
const EXAMPLE_SESSION = {
  member: { id: 'operator', name: 'operator', role: 'owner' },
  clients: [FIRST, SHOP],
  expiresAt: '2026-12-07T12:00:00.000Z',
  isSetUp: true,
}
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

/** Sign-in to the console, and its members. */
export const MEMBERS: readonly Endpoint[] = [
  {
    route: 'POST /v1/session',
    id: 'beginSession',
    tag: 'Members',
    summary: 'Sign in to the console',
    description: 'Without an email address, the operator signs in with ADMIN_PASSWORD.',
    access: 'public',
    body: { 'application/json': { schema: newSession } },
    responses: ok('The session.', session, ['Set-Cookie', 'RateLimit', 'RateLimit-Policy']),
    isRateLimited: true,
    examples: [
      {
        id: 'wrong',
        summary: 'A wrong password',
        body: { email: 'ada@example.com', password: 'not the password' },
        status: 401,
      },
    ],
  },
  {
    route: 'GET /v1/session',
    id: 'getSession',
    tag: 'Members',
    summary: 'Get the signed-in member and the clients that they may see',
    access: 'session',
    responses: SESSION,
    examples: [{ id: 'own', summary: 'The session', status: 200, response: EXAMPLE_SESSION }],
  },
  {
    route: 'PATCH /v1/session',
    id: 'updateSession',
    tag: 'Members',
    summary: 'Change the name or the password of the signed-in member',
    description: 'A new password ends all other sessions of the member.',
    access: 'session',
    body: { 'application/json': { schema: sessionChange } },
    responses: ok('The session.', session, ['Set-Cookie', 'RateLimit', 'RateLimit-Policy']),
    examples: [
      {
        id: 'operator',
        summary: 'The operator has no record',
        body: { name: 'Ada' },
        status: 409,
      },
    ],
  },
  {
    route: 'DELETE /v1/session',
    id: 'endSession',
    tag: 'Members',
    summary: 'Sign out',
    access: 'session',
    parameters: [flag('everywhere', 'Also ends all other sessions of the member.')],
    responses: { 204: { description: 'Signed out.', headers: ['Cache-Control', 'Set-Cookie'] } },
    examples: [{ id: 'own', summary: 'Sign out of this browser', status: 204 }],
  },
  {
    route: 'POST /v1/session/link',
    id: 'readMemberLink',
    tag: 'Members',
    summary: 'Get what a link for a password is for',
    description: 'It does not use up the link.',
    access: 'public',
    body: { 'application/json': { schema: linkToken } },
    responses: ok('The link.', memberLink),
    examples: [
      {
        id: 'invitation',
        summary: 'An invitation',
        body: { link: EXAMPLE.memberLink },
        status: 200,
        response: {
          purpose: 'invitation',
          email: 'ada@example.com',
          name: 'Ada',
          role: 'editor',
          expiresAt: '2026-12-07T12:00:00.000Z',
        },
      },
    ],
  },
  {
    route: 'PUT /v1/session/link',
    id: 'useMemberLink',
    tag: 'Members',
    summary: 'Set a password by a link, and sign in',
    description: 'It uses up the link. A link for the first owner requires an email address.',
    access: 'public',
    body: { 'application/json': { schema: linkUse } },
    responses: SESSION,
    examples: [
      {
        id: 'invitation',
        summary: 'An accepted invitation',
        body: { link: EXAMPLE.memberLink, name: 'Ada', password: 'four random words here' },
        status: 200,
        response: {
          ...EXAMPLE_SESSION,
          clients: [SHOP],
          member: { id: EXAMPLE.memberId, email: 'ada@example.com', name: 'Ada', role: 'editor' },
        },
      },
    ],
  },
  {
    route: 'GET /v1/members',
    id: 'listMembers',
    tag: 'Members',
    summary: 'List all members',
    access: 'admin',
    responses: ok('All members.', memberList),
    examples: [{ id: 'all', summary: 'All members', status: 200 }],
  },
  {
    route: 'POST /v1/members',
    id: 'inviteMember',
    tag: 'Members',
    summary: 'Invite a member',
    description: 'No email is sent: give the link to the member. It expires after 7 days.',
    access: 'admin',
    body: { 'application/json': { schema: newMember } },
    responses: ok(
      'The member and the link of the invitation, which is only in this response.',
      invitedMember,
    ),
    examples: [
      {
        id: 'editor',
        summary: 'An editor of one client',
        body: { email: 'grace@example.com', name: 'Grace', role: 'editor', clients: [EXAMPLE.clientId] },
        status: 200,
        response: {
          member: { ...EXAMPLE_MEMBER, email: 'grace@example.com', name: 'Grace' },
          ...EXAMPLE_LINK,
        },
      },
    ],
  },
  {
    route: 'PATCH /v1/members/:id',
    id: 'updateMember',
    tag: 'Members',
    summary: 'Change the name, the role or the clients of a member',
    access: 'admin',
    body: { 'application/json': { schema: memberChange } },
    responses: ok('The member.', member),
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
  },
  {
    route: 'DELETE /v1/members/:id',
    id: 'removeMember',
    tag: 'Members',
    summary: 'Remove a member, and end their sessions',
    access: 'admin',
    responses: DELETED,
    examples: [{ id: 'ada', summary: 'A member', parameters: ID, status: 204 }],
  },
  {
    route: 'POST /v1/members/:id/link',
    id: 'linkMember',
    tag: 'Members',
    summary: 'Create a link for a new password, or a new invitation',
    access: 'admin',
    responses: ok('The link, which is only in this response.', newMemberLink),
    examples: [{ id: 'ada', summary: 'A link', parameters: ID, status: 200, response: EXAMPLE_LINK }],
  },
]

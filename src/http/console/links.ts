import { z } from 'zod'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import { instant, iso } from '../wire/instant.ts'
import { addOwnEntry } from './audited-by.ts'
import { email, name, newEmail, newName, newPassword, role } from './fields.ts'
import { EXAMPLE_SESSION } from './session.ts'
import { begin, SESSION, type SessionServices } from './session-reply.ts'

const LINK_MAX_LENGTH = 1000

const memberLink = replyOf('MemberLink', 'A link by which a person chooses a password.', {
  purpose: z
    .enum(['setup', 'invitation', 'reset'])
    .describe('`setup` creates the first owner, the others set the password of a member.'),
  email: email.optional(),
  name: name.optional(),
  role,
  expiresAt: instant('When the link expires.'),
})
const link = z
  .string('a string')
  .max(LINK_MAX_LENGTH, 'the token of a link')
  .describe('The part of the URL of the link after `#`.')
const linkToken = bodyOf('LinkToken', { link })
const linkUse = bodyOf('LinkUse', {
  link,
  email: newEmail.describe('Email address of the first owner. Ignored for other links.').optional(),
  name: newName.optional(),
  password: newPassword,
})

export const readMemberLink = endpoint({
  route: 'POST /v1/session/link',
  id: 'readMemberLink',
  tag: 'Members',
  summary: 'Get what a link for a password is for',
  description: 'It does not use up the link.',
  access: 'sameSite',
  body: linkToken,
  secretMembers: ['link'],
  responses: { 200: json(memberLink, 'The link.') },
  problems: ['410 link_expired'],
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

  async handle({ signIn }: SessionServices, { body }) {
    const { purpose, member, expiresAt } = await signIn.readLink(body.link)
    const read: z.input<typeof memberLink> = {
      purpose,
      ...(member ? { email: member.email, name: member.name } : {}),
      role: member?.role ?? 'owner',
      expiresAt: iso(expiresAt),
    }
    return { json: read }
  },
})

export const useMemberLink = endpoint({
  route: 'PUT /v1/session/link',
  id: 'useMemberLink',
  tag: 'Members',
  summary: 'Set a password by a link, and sign in',
  description:
    'It uses up the link, ends all sessions of the member, and removes all passkeys. A link for the first owner requires an email address.',
  access: 'sameSite',
  body: linkUse,
  secretMembers: ['link', 'password'],
  responses: { 200: SESSION },
  problems: ['410 link_expired'],
  examples: [
    {
      id: 'invitation',
      summary: 'An accepted invitation',
      body: { link: EXAMPLE.memberLink, name: 'Ada', password: 'four random words here' },
      status: 200,
      response: {
        ...EXAMPLE_SESSION,
        member: { id: EXAMPLE.memberId, email: 'ada@example.com', name: 'Ada', role: 'editor' },
      },
    },
  ],

  async handle(services: SessionServices, { req, res, body: { link: token, ...choice } }) {
    const begun = await services.signIn.byLink(token, choice)
    addOwnEntry(req, { audit: services.audit, action: 'session.use-link', member: begun.member })
    return begin({ req, res }, begun, services)
  },
})

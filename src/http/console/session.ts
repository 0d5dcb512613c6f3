import { REFUSED_SIGN_IN } from '../../core/ports/audit-log.ts'
import { badParameter, Problem } from '../../core/problem.ts'
import type { SignedIn } from '../../service/members/sessions.ts'
import { EXAMPLE } from '../documents/examples.ts'
import { endpoint } from '../endpoint/endpoint.ts'
import { bodyOf } from '../endpoint/named.ts'
import { flag } from '../endpoint/query.ts'
import { addOwnEntry } from './audited-by.ts'
import { clearSessionCookie } from './cookie.ts'
import { newEmail, newName, newPassword, password, SIGN_IN } from './fields.ts'
import { ORIGIN, ownOrigin } from './passkeys/wire.ts'
import { begin, LIMITED_SESSION, SESSION, type SessionServices, sessionReply } from './session-reply.ts'
import { limitSignIn, rememberSignIn } from './sign-in-limit.ts'

const newSession = bodyOf('NewSession', {
  email: newEmail
    .describe('Email address of the member. Absent: the operator, with ADMIN_PASSWORD.')
    .optional(),
  password: password.describe('Password.'),
})
const sessionChange = bodyOf('SessionChange', {
  name: newName.optional(),
  currentPassword: password
    .describe('Required for a new password, and for its removal, when the member has one.')
    .optional(),
  newPassword: newPassword.nullable().optional(),
})

const SHOP = { id: EXAMPLE.clientId, name: 'Shop', token: EXAMPLE.token, signedUrls: false }
const FIRST = { id: 'first', token: 'pub_VXk2c7BbGZyT4hRqNwMdLs', signedUrls: false }
const OF_OPERATOR = {
  member: { id: 'operator', name: 'operator', role: 'owner' },
  clients: [FIRST, SHOP],
  expiresAt: '2026-12-07T12:00:00.000Z',
  isSetUp: true,
}
/** The session of a member who sees one client. */
export const EXAMPLE_SESSION = { ...OF_OPERATOR, clients: [SHOP] }

export const beginSession = endpoint({
  route: 'POST /v1/session',
  id: 'beginSession',
  tag: 'Members',
  summary: 'Sign in to the console',
  description: 'Without an email address, the operator signs in with ADMIN_PASSWORD.',
  access: 'sameSite',
  body: newSession,
  secretMembers: ['password'],
  responses: { 200: LIMITED_SESSION },
  problems: SIGN_IN,
  examples: [
    {
      id: 'wrong',
      summary: 'A wrong password',
      body: { email: 'ada@example.com', password: 'not the password' },
      status: 401,
    },
  ],

  async handle(services: SessionServices, { req, res, body: credentials }) {
    const { signIn, audit } = services
    await limitSignIn({ req, res }, credentials.email, services)
    const begun = await signIn.byPassword(credentials).catch((error) => {
      const tried = credentials.email === undefined ? undefined : signIn.memberOf(credentials.email)
      if (error instanceof Problem && error.status === 401)
        addOwnEntry(req, { audit, action: REFUSED_SIGN_IN, member: tried })
      throw error
    })
    await rememberSignIn(req, credentials.email, services)
    addOwnEntry(req, { audit, action: 'session.sign-in', member: begun.member })
    return begin({ req, res }, begun, services)
  },
})

export const getSession = endpoint({
  route: 'GET /v1/session',
  id: 'getSession',
  tag: 'Members',
  summary: 'Get the signed-in member and the clients that they may see',
  access: 'session',
  responses: { 200: SESSION },
  examples: [{ id: 'own', summary: 'The session', status: 200, response: OF_OPERATOR }],

  handle(services: SessionServices, { req, res, caller }) {
    services.lastSeen.note(caller.member.id)
    const renewed = services.sessions.renewed(caller)
    return renewed ? begin({ req, res }, renewed, services) : sessionReply(caller, services)
  },
})

export const updateSession = endpoint({
  route: 'PATCH /v1/session',
  id: 'updateSession',
  tag: 'Members',
  summary: 'Change the name or the password of the signed-in member',
  description:
    'A new password ends all other sessions of the member. `null` removes the password of a member who has a passkey for this origin. A member without a password sets one within 10 minutes of the sign-in.',
  access: 'session',
  parameters: [ORIGIN],
  body: sessionChange,
  secretMembers: ['currentPassword', 'newPassword'],
  responses: { 200: LIMITED_SESSION },
  problems: [
    '400 unknown_origin',
    '403 sign_in_again',
    '403 wrong_password',
    '404 member_not_found',
    '409 operator_session',
    '409 no_passkey',
    '409 no_password',
    '429 rate_limited',
  ],
  examples: [{ id: 'operator', summary: 'The operator has no record', body: { name: 'Ada' }, status: 409 }],

  async handle(services: SessionServices, { req, res, caller, body }) {
    const { member } = caller
    const { currentPassword: current, newPassword: next, name: called } = body
    if (next !== undefined && current === undefined && !member.isPasskeyOnly)
      throw badParameter({ param: 'currentPassword', expected: 'the current password', received: undefined })
    if (next === undefined && called === undefined)
      throw badParameter({ param: 'the body', expected: 'a name or a newPassword', received: 'neither' })
    // A stolen session must not serve to guess the password.
    if (next !== undefined) await limitSignIn({ req, res }, member.email, services)
    const changes = {
      name: called,
      newPassword: next === undefined ? undefined : { current: current ?? '', next, page: ownOrigin(req) },
    }
    const renewed = await services.signIn.changeOwn(caller, changes)
    addOwnEntry(req, { audit: services.audit, action: actionOf(next, member), member })
    if (renewed) return begin({ req, res }, renewed, services)
    return sessionReply({ ...caller, member: { ...member, name: called ?? member.name } }, services)
  },
})

/** The action in the audit log. @param next the new password; null removes it */
function actionOf(next: string | null | undefined, { isPasskeyOnly }: SignedIn): string {
  if (next === undefined) return 'session.rename'
  if (next === null) return 'session.remove-password'
  return isPasskeyOnly ? 'session.set-password' : 'session.change-password'
}

export const endSession = endpoint({
  route: 'DELETE /v1/session',
  id: 'endSession',
  tag: 'Members',
  summary: 'Sign out',
  access: 'session',
  query: { everywhere: flag('Also ends all other sessions of the member.') },
  responses: { 204: { description: 'Signed out.', headers: ['Cache-Control', 'Set-Cookie'] } },
  examples: [{ id: 'own', summary: 'Sign out of this browser', status: 204 }],

  async handle(services: SessionServices, { req, res, caller, query: { everywhere } }) {
    const { sessions, audit } = services
    await (everywhere ? sessions.endAll(caller.member.id) : sessions.end(caller))
    const action = everywhere ? 'session.sign-out-everywhere' : 'session.sign-out'
    addOwnEntry(req, { audit, action, member: caller.member })
    clearSessionCookie({ req, res })
    return {}
  },
})

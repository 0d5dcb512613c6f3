import { z } from 'zod'
import { OPERATOR_ID } from '../../core/members/member.ts'
import { type AuditLog, REFUSED_SIGN_IN } from '../../core/ports/audit-log.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { KnownAddresses } from '../../service/admin/known-addresses.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import { endpoint, json } from '../endpoint/endpoint.ts'
import { bodyOf, replyOf } from '../endpoint/named.ts'
import { instant, iso } from '../wire/instant.ts'
import { addOwnEntry } from './audited-by.ts'
import { SIGN_IN } from './fields.ts'
import { limitSignIn, rememberSignIn } from './sign-in-limit.ts'

/** The services that handle these requests. */
export interface Services {
  adminSessions: AdminSessions
  audit: AuditLog
  knownAddresses: KnownAddresses
  limits: Limits
}

const adminSession = replyOf('AdminSession', 'A session of the operator.', {
  token: z.string().describe('Bearer token for the endpoints of clients.'),
  expiresAt: instant('When the token expires.'),
})
const signInRequest = bodyOf('SignInRequest', {
  password: z.string('a string').describe('The value of ADMIN_PASSWORD.'),
})

/** The token of the operator, for programs. */
export const signIn = endpoint({
  route: 'POST /v1/sign-in',
  id: 'signIn',
  tag: 'Clients',
  summary: 'Exchange the password of the operator for a token',
  // A page of another site can make a visitor's browser send a form or plain text. It must not use up the attempts of that visitor's
  // IP address. JSON from another origin needs a preflight request, which is never allowed.
  access: 'sameSite',
  body: signInRequest,
  // A password has at most 256 characters.
  bodyMaxBytes: 4096,
  secretMembers: ['password'],
  responses: { 200: json(adminSession, 'The session.', ['RateLimit', 'RateLimit-Policy']) },
  problems: SIGN_IN,
  examples: [
    { id: 'wrong', summary: 'A wrong password', body: { password: 'not the password' }, status: 401 },
  ],

  // Each attempt counts, with any JSON.
  beforeBody: (services: Services, exchange) => limitSignIn(exchange, undefined, services),

  async handle({ adminSessions, audit, knownAddresses }: Services, { req, body }) {
    try {
      const { token, expiresAt } = adminSessions.signIn(body.password)
      await rememberSignIn(req, undefined, { knownAddresses })
      addOwnEntry(req, {
        audit,
        action: 'session.sign-in',
        member: { id: OPERATOR_ID, name: OPERATOR_ID },
      })
      const session: z.input<typeof adminSession> = { token, expiresAt: iso(expiresAt) }
      return { json: session }
    } catch (error) {
      if (error instanceof Problem && error.status === 401)
        addOwnEntry(req, { audit, action: REFUSED_SIGN_IN, member: undefined })
      throw error
    }
  },
})

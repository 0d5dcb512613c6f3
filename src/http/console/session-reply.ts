import type { Request, Response } from 'express'
import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { isVisible } from '../../core/members/member.ts'
import type { AuditLog } from '../../core/ports/audit-log.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { KnownAddresses } from '../../service/admin/known-addresses.ts'
import type { LastSeen } from '../../service/members/last-seen.ts'
import type { MemberSession, NewSession, Sessions } from '../../service/members/sessions.ts'
import type { SignIn } from '../../service/members/sign-in.ts'
import { json } from '../endpoint/endpoint.ts'
import { replyOf } from '../endpoint/named.ts'
import type { Reply } from '../endpoint/reply.ts'
import { instant, iso } from '../wire/instant.ts'
import { setSessionCookie } from './cookie.ts'
import { email, name, role } from './fields.ts'

/** The services of the endpoints for sessions. */
export interface SessionServices {
  sessions: Sessions
  signIn: SignIn
  lastSeen: LastSeen
  audit: AuditLog
  /** Whether there is a member who can sign in. */
  isSetUp: () => boolean
  listClients: () => readonly Client[]
  knownAddresses: KnownAddresses
  limits: Limits
}

const session = replyOf('Session', 'A session of the console.', {
  member: z.object({
    id: z.string().describe('ID of the member; `operator` for ADMIN_PASSWORD.'),
    email: email.optional(),
    name,
    role,
    organisation: z
      .literal(true)
      .describe('The member signs in with the organisation, and has no password.')
      .optional(),
    passkeyOnly: z.literal(true).describe('The member has passkeys, and no password.').optional(),
  }),
  clients: z
    .array(
      z.object({
        id: z.string().describe('ID of the client, for the header `Sluice-Client`.'),
        name: z.string().describe('Name that the operator has set.').optional(),
        token: z.string().describe('Public token of the client, part of its URLs.'),
        signedUrls: z.boolean().describe('Whether all its delivery URLs must be signed.'),
        privateFolders: z
          .array(z.string())
          .describe('Folders whose delivery URLs must be signed.')
          .optional(),
      }),
    )
    .describe('The clients that the member may see.'),
  expiresAt: instant('When the session expires. It is extended while it is used.'),
  isSetUp: z.boolean().describe('Whether there is a member. Otherwise, only the operator can sign in.'),
})
export const SESSION = json(session, 'The session.', ['Set-Cookie'])
export const LIMITED_SESSION = json(session, 'The session.', ['Set-Cookie', 'RateLimit', 'RateLimit-Policy'])

/** Responds with a new session. Its ID is always new: nobody can know the cookie of a session in advance. */
export function begin(
  exchange: { req: Request; res: Response },
  begun: NewSession,
  services: Pick<SessionServices, 'listClients' | 'isSetUp'>,
): Reply {
  setSessionCookie(exchange, begun)
  return sessionReply(begun, services)
}

/** Shows those clients that the member may see. */
export function sessionReply(
  { member: { isOfOrganisation, isPasskeyOnly, ...member }, expiresAt }: MemberSession,
  { listClients, isSetUp }: Pick<SessionServices, 'listClients' | 'isSetUp'>,
): Reply {
  const { id, email: address, name: called, role: own, clients: ids } = member
  const body: z.input<typeof session> = {
    member: {
      id,
      ...(address === undefined ? {} : { email: address }),
      name: called,
      role: own,
      ...(isOfOrganisation ? { organisation: true } : {}),
      ...(isPasskeyOnly ? { passkeyOnly: true } : {}),
    },
    clients: listClients()
      .filter((one) => !one.removing && isVisible(ids, one.id))
      .map(clientToWire),
    expiresAt: iso(expiresAt),
    isSetUp: isSetUp(),
  }
  return { json: body }
}

function clientToWire({
  id,
  name: called,
  token,
  rules,
}: Client): z.input<typeof session>['clients'][number] {
  return {
    id,
    ...(called === undefined ? {} : { name: called }),
    token,
    signedUrls: rules?.signedUrls ?? false,
    ...(rules?.privateFolders ? { privateFolders: [...rules.privateFolders] } : {}),
  }
}

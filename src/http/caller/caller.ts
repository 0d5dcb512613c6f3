import type { Request } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { Grant } from '../../core/clients/grant.ts'
import type { Action } from '../../core/clients/secret-scope.ts'
import { isVisible, permits } from '../../core/members/member.ts'
import { badParameter } from '../../core/problem.ts'
import { noSuchClient } from '../../service/clients/change-existing.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { notSignedIn } from '../../service/members/member-problems.ts'
import type { MemberSession } from '../../service/members/sessions.ts'
import { roleForbids } from '../console/console-session.ts'
import { stateOf } from '../request-state.ts'
import type { IsPathWithin } from './signed-cookie.ts'
import { type AdmittedUrl, admitUrl } from './signed-url.ts'

/**
 * What the secret of a request permits, or in the console the role of its member. From then on, the log line of the
 * request names the client.
 *
 * @throws Problem 401, 403; for a member 400 without a client, 404 for a client that the member may not see
 */
export function callerBySecret(req: Request, clients: Clients, action: Action): Grant {
  const { console: own } = stateOf(req)
  if (own) return callerByMember(req, { clients, session: own.session, action })
  const grant = clients.authenticate(req.headers.authorization, action)
  stateOf(req).clientId = grant.client.id
  return grant
}

function callerByMember(
  req: Request,
  { clients, session, action }: { clients: Clients; session: MemberSession | undefined; action: Action },
): Grant {
  if (!session) throw notSignedIn()
  const { role, clients: visible } = session.member
  const id = req.get('Sluice-Client')
  if (id === undefined)
    throw badParameter({ param: 'Sluice-Client', expected: 'the ID of a client', received: undefined })
  // The same response as for an unknown client: the IDs of other clients are not confirmed.
  if (!isVisible(visible, id)) throw noSuchClient(id)
  const client = clients.withId(id)
  if (!permits(role, action))
    throw roleForbids('Viewers may only read. Ask an owner for the role of an editor.')
  stateOf(req).clientId = client.id
  return { client }
}

/** A delivery URL: its client, and the file and transformation that are requested of it. */
export interface ClientUrl extends AdmittedUrl {
  client: Client
}

/**
 * The client whose public token is in a delivery URL, and what the URL requests. The signature of the URL is verified. From
 * then on, the log line of the request names the client.
 *
 * @param isPathWithin for a route of files in folders, which signed cookies open
 * @throws Problem 403 for a signature that is required but missing, or that is invalid; 404 for an unknown token
 */
export function callerByToken(req: Request, clients: Clients, isPathWithin?: IsPathWithin): ClientUrl {
  const client = clients.ofToken(String(req.params.token))
  stateOf(req).clientId = client.id
  return { client, ...admitUrl(req, { client, clients, isPathWithin }) }
}

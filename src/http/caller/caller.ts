import type { Request } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { Grant } from '../../core/clients/grant.ts'
import type { Action } from '../../core/clients/secret-scope.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { stateOf } from '../request-state.ts'
import { type AdmittedUrl, admitUrl } from './signed-url.ts'

/** What the secret of a request permits. From then on, the log line of the request names the client. @throws Problem 401, 403 */
export function callerBySecret(req: Request, clients: Clients, action: Action): Grant {
  const grant = clients.authenticate(req.headers.authorization, action)
  stateOf(req).clientId = grant.client.id
  return grant
}

/** A delivery URL: its client, and the file and transformation that are requested of it. */
export interface ClientUrl extends AdmittedUrl {
  client: Client
}

/**
 * The client whose public token is in a delivery URL, and what the URL requests. The signature of the URL is verified. From
 * then on, the log line of the request names the client.
 *
 * @throws Problem 403 for a signature that is required but missing, or that is invalid; 404 for an unknown token
 */
export function callerByToken(req: Request, clients: Clients): ClientUrl {
  const client = clients.ofToken(String(req.params.token))
  stateOf(req).clientId = client.id
  return { client, ...admitUrl(req, client, clients) }
}

import type { Request } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { Grant } from '../../core/clients/grant.ts'
import type { Action } from '../../core/clients/secret-scope.ts'
import type { Clients } from '../../service/clients/clients.ts'
import { admitUrl } from './signed-url.ts'

const callerIds = new WeakMap<Request, string>()

/** What a request's secret token is good for; the log has the client's id from here on. @throws Problem 401, 403 */
export function callerBySecret(req: Request, clients: Clients, action: Action): Grant {
  const grant = clients.authenticate(req.headers.authorization, action)
  nameCaller(req, grant.client)
  return grant
}

/**
 * Whose public token stands in a delivery URL, which is signed if it has to be; the log has the id from here on.
 * @throws Problem 403, 404
 */
export function callerByToken(req: Request, clients: Clients): Client {
  const client = clients.ofToken(String(req.params.token))
  nameCaller(req, client)
  admitUrl(req, client, clients)
  return client
}

/** Whose a request was found to be; the log has the id from here on. */
export function nameCaller(req: Request, { id }: Client): void {
  callerIds.set(req, id)
}

/** The id of the client that a request was found to belong to; undefined when it is not known. */
export function callerId(req: Request): string | undefined {
  return callerIds.get(req)
}

import type { Request } from 'express'
import type { Client } from '../core/client.ts'
import type { Clients } from '../service/clients.ts'

const callers = new WeakMap<Request, string>()

/** Whose secret token a request carries; the log has the id from here on. @throws Problem 401 */
export function callerBySecret(req: Request, clients: Clients): Client {
  return known(req, clients.authenticate(req.headers.authorization))
}

/** Whose public token stands in a delivery URL; the log has the id from here on. @throws Problem 404 */
export function callerByToken(req: Request, clients: Clients): Client {
  return known(req, clients.ofToken(String(req.params.token)))
}

/** The id of the client that a request was found to belong to. */
export function callerId(req: Request): string | undefined {
  return callers.get(req)
}

function known(req: Request, client: Client): Client {
  callers.set(req, client.id)
  return client
}

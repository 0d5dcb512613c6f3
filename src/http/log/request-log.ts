import { randomUUID } from 'node:crypto'
import type { Request, RequestHandler, Response } from 'express'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Usage } from '../../service/files/usage.ts'
import { trafficSince } from '../connection/byte-counter.ts'
import { stateOf } from '../request-state.ts'
import { redactPath, withoutRemotePath } from './redact-path.ts'

/**
 * Gives every request an ID, in `X-Request-Id`, and logs its end: the route, the client if it is known, the `code` of
 * the problem if there was one, and the bytes, headers included. When the client has disconnected before the response
 * began, `aborted` is logged instead of the status. Paths are logged without their query, headers not at all, and a
 * segment that contains a secret token by mistake is masked: no secret reaches the log. The metrics get the same values
 * without path, client and code. The usage counts get the sent bytes.
 *
 * @param options.secrets tokens in plain text, in addition to those that the clients know by their digests
 */
export function requestLog({
  log,
  clients,
  secrets,
  metrics,
  usage,
}: {
  log: Log
  clients: Clients
  secrets: readonly string[]
  metrics: Pick<Metrics, 'requestEnded'>
  usage: Pick<Usage, 'delivered' | 'failed'>
}): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now()
    const id = randomUUID()
    // Stored now: after the end of the response, the request has no socket any more.
    const { socket } = req
    res.setHeader('X-Request-Id', id)
    res.once('close', () => {
      const { problemCode: code, clientId: client } = stateOf(req)
      const route = routeOf(req)
      const traffic = trafficSince(socket)
      const ms = performance.now() - startedAt
      const fields = {
        requestId: id,
        method: req.method,
        path: redactPath(withoutRemotePath(req.path), { secrets, isSecret: clients.isSecret }),
        ...(route === undefined ? {} : { route }),
        ...(client === undefined ? {} : { client }),
        ...(res.headersSent ? { status: res.statusCode } : { aborted: true }),
        ...(code === undefined ? {} : { code }),
        ms: Math.round(ms),
        ...traffic,
        complete: res.writableFinished,
      }
      log.info(fields, 'request')
      const status = res.headersSent ? res.statusCode : 'aborted'
      if (client !== undefined && isDelivery(req, res)) {
        if (res.statusCode < 400) usage.delivered(client, traffic.bytes)
        else if (res.statusCode !== JOB_IN_PROGRESS) usage.failed(client)
      }
      metrics.requestEnded({ route, method: req.method, status, seconds: ms / 1000, ...traffic })
    })
    next()
  }
}

/** Whether the response is to a request for a client's files, including a byte range and 304. */
function isDelivery(req: Request, res: Response): boolean {
  return res.headersSent && DELIVERIES.test(`${req.method} ${routeOf(req)}`)
}

const JOB_IN_PROGRESS = 423
const DELIVERIES =
  /^(?:(?:GET|HEAD) \/(?:v1\/(?:bucket|:group\/(?:upload|alias|foreign|fetch))|compat)\/|POST \/v1\/zip$)/

/** The pattern of the matched route, such as `/v1/bucket/:token/*path`. Undefined when no route matched. */
function routeOf(req: Request): string | undefined {
  const path: string | string[] | undefined = req.route?.path
  // A route with several patterns has a list of them. The first is its name in logs and metrics.
  return Array.isArray(path) ? path[0] : path
}

import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Request, RequestHandler } from 'express'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import type { Span } from '../../core/ports/telemetry/tracing.ts'
import { inRequest, logFields, type RequestContext, traceIdOf } from '../../core/request-context.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Usage } from '../../service/files/usage.ts'
import { trafficSince } from '../connection/byte-counter.ts'
import { FILE_BYTES } from '../documents/contents.ts'
import type { Content, DocumentedEndpoint } from '../documents/endpoint.ts'
import { stateOf } from '../request-state.ts'
import { redactPath, withoutRemotePath } from './redact-path.ts'
import type { Identify } from './request-ids.ts'
import { requestSpanEnd } from './request-span.ts'

/** A request whose response is closed. */
export interface EndedRequest {
  context: RequestContext
  span: Span | undefined
  method: string
  /** As {@link RequestEnds.pathOf} returns it. */
  path: string
  route: string | undefined
  clientId: string | undefined
  /** The `code` of the problem in the response. */
  code: string | undefined
  /** Whether a failure of this service has ended the response after its head. */
  hasBrokenOff?: boolean | undefined
  /** As `performance.now()`. */
  startedAt: number
}

/** What happens at the end of each request: its log line, its metrics, and the usage counts of its client. */
export interface RequestEnds {
  /** The path for the log, without secrets, and without the query. */
  pathOf(path: string): string
  end(request: EndedRequest, exchange: { res: ServerResponse; socket: Socket }): void
}

/** The dependencies of {@link createRequestEnds}. */
export interface RequestEndsOptions {
  log: Log
  clients: Pick<Clients, 'isSecret'>
  /** Tokens in plain text, in addition to those that the clients know by their digests. */
  secrets: readonly string[]
  metrics: Pick<Metrics, 'requestEnded'>
  usage: Pick<Usage, 'delivered' | 'failed'>
}

/**
 * Logs the end of a request: the route, the client if it is known, the `code` of the problem if there was one, and the bytes,
 * headers included. When the client has disconnected before the response began, `aborted` is logged instead of the status.
 * Paths are logged without their query, headers not at all, and a segment that contains a secret token by mistake is masked:
 * no secret reaches the log. The metrics get the same values without path, client and code. The usage counts get the sent
 * bytes of deliveries, including byte ranges and 304.
 *
 * @param deliveries as {@link deliveryRoutes} returns them
 */
export function createRequestEnds(
  { log, clients, secrets, metrics, usage }: RequestEndsOptions,
  deliveries: ReadonlySet<string>,
): RequestEnds {
  const isSecret = (word: string) => clients.isSecret(word)
  return {
    pathOf: (path) => redactPath(withoutRemotePath(path), { secrets, isSecret }),
    end(request, { res, socket }) {
      const { context, span, method, path, route, clientId: client, code, startedAt } = request
      const traffic = trafficSince(socket)
      const ms = performance.now() - startedAt
      const { requestId, traceId } = logFields(context)
      // The log leaves out what is undefined. Without spreading, all fields have the same hidden class.
      const fields = {
        requestId,
        traceId,
        method,
        path,
        route,
        client,
        status: res.headersSent ? res.statusCode : undefined,
        aborted: res.headersSent ? undefined : true,
        code,
        ms: Math.round(ms),
        bytes: traffic.bytes,
        receivedBytes: traffic.receivedBytes,
        complete: res.writableFinished,
      }
      log.info(fields, 'request')
      const status = res.headersSent ? res.statusCode : 'aborted'
      if (client !== undefined && res.headersSent && deliveries.has(`${method} ${route}`)) {
        if (res.statusCode < 400) usage.delivered(client, traffic.bytes)
        else if (res.statusCode !== JOB_IN_PROGRESS) usage.failed(client)
      }
      metrics.requestEnded({ route, method, status, code, seconds: ms / 1000, ...traffic })
      const { hasBrokenOff = false } = request
      const isComplete = res.writableFinished
      span?.end(
        requestSpanEnd({ route, method, path, client, status, code, isComplete, hasBrokenOff, ...traffic }),
      )
    },
  }
}

/**
 * Names every request, in `X-Request-Id`, and logs its end. What a request starts gets the names that a proxy has given it, and belongs to
 * its trace.
 */
export function requestLog(ends: RequestEnds, identify: Identify): RequestHandler {
  return (req, res, next) => {
    const startedAt = performance.now()
    const { context, isOfProxy, span } = identify(req, startedAt)
    // Stored now: after the end of the response, the request has no socket any more.
    const { socket, method } = req
    res.setHeader('X-Request-Id', context.requestId)
    if (context.trace) stateOf(req).traceId = traceIdOf(context.trace)
    res.once('close', () => {
      const { problemCode: code, hasBrokenOff, clientId } = stateOf(req)
      const path = ends.pathOf(req.path)
      const route = routeOf(req)
      ends.end(
        { context, span, method, path, route, clientId, code, hasBrokenOff, startedAt },
        { res, socket },
      )
    })
    // Before Node 24, a context for each request takes up to a tenth of the CPU time of a delivery. Without such a proxy, and without a trace, there is none.
    if (isOfProxy || span) inRequest(context, next)
    else next()
  }
}

const JOB_IN_PROGRESS = 423

/** The methods and routes that respond with files of a client: `HEAD /v1/bucket/:token/*path`. Public files are those of the service itself. */
export function deliveryRoutes(
  endpoints: ReadonlyArray<Pick<DocumentedEndpoint, 'route' | 'access' | 'responses'>>,
): ReadonlySet<string> {
  const routes = endpoints
    .filter(({ access, responses }) => {
      const contents: readonly Content[] = Object.values(responses[200]?.content ?? {})
      return access !== 'public' && contents.includes(FILE_BYTES)
    })
    .map(({ route }) => route)
  return new Set(routes.flatMap((route) => [route, route.replace(/^GET /, 'HEAD ')]))
}

/** The pattern of the matched route, such as `/v1/bucket/:token/*path`. Undefined when no route matched. */
export function routeOf(req: Request): string | undefined {
  const path: string | undefined = req.route?.path
  // A slash at the end that may be missing is no part of the name.
  return path?.replace('{/}', '')
}

import { STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler, Express, RequestHandler, Response } from 'express'
import type { Log } from '../core/log.ts'
import { isRemoteFailure, logReason } from '../core/log-reason.ts'
import { BUSY, Problem } from '../core/problem.ts'
import { truncate } from '../core/text/truncate.ts'
import { nearestRoute } from './nearest-route.ts'
import { withPlaceholderHint } from './placeholder.ts'

/**
 * The only place where errors become responses: `application/problem+json`, never stored by anyone, and never with a
 * stack, a path of the machine or a secret. Once headers are out, the connection is destroyed instead.
 *
 * @see RFC 9457
 */
export function problemHandler(log: Log): ErrorRequestHandler {
  return (error, req, res, _next) => {
    // The client has left: nobody to tell, nothing to mend.
    if (error instanceof Error && error.name === 'AbortError') return
    const problem = withPlaceholderHint(asProblem(error), req)
    const fields = { requestId: requestId(res), status: problem.status, code: problem.code }
    // 501: what the caller asks for is nothing that fails here.
    // No fault of this service, and no stack: how often and how much is logged is not the other server's decision.
    if (problem.status >= 500 && isRemoteFailure(problem))
      log.warn({ ...fields, reason: logReason(problem) }, 'another server has failed a request')
    // Nor is how much callers request: a limit that they share refuses the rest, and is no failure.
    else if (problem.members.reason === BUSY)
      log.warn({ ...fields, reason: logReason(problem) }, 'a request was refused')
    else if (problem.status >= 500 && problem.status !== 501)
      log.error({ ...fields, err: error }, 'a request failed')
    // A form that breaks off, for example: again, the client has left.
    else if (res.destroyed) return
    // Why a picture cannot be read, for example. What Express throws quotes the request, with a secret perhaps.
    else if (error instanceof Problem && error.cause !== undefined)
      log.info({ ...fields, reason: logReason(error.cause) }, 'a request was refused')
    codes.set(res, problem.code)
    if (res.headersSent) res.destroy()
    else if (!res.destroyed) sendProblem(res, problem)
  }
}

/**
 * Has an answer that is broken off end its connection by a reset, whoever breaks it off: to a peer of HTTP/1.0, which
 * knows no chunks, an orderly end would say that it has all of an archive.
 */
export function resetWhenBrokenOff({ response }: Express): void {
  const { destroy } = response
  response.destroy = function (this: Response, error) {
    if (this.socket && !this.socket.destroyed) this.socket.resetAndDestroy()
    return destroy.call(this, error)
  }
}

const codes = new WeakMap<Response, string>()

/** The code of the problem that a request has ended with; undefined when there was none. */
export function problemCode(res: Response): string | undefined {
  return codes.get(res)
}

/** For paths without a route: names the nearest route. */
export const notFound: RequestHandler = ({ method, path }) => {
  const near = nearestRoute(method, path)
  if (near === undefined) throw routeNotFound()
  throw new Problem({
    status: 404,
    code: 'route_not_found',
    detail: `No route matches ${method} ${truncate(path)}. Did you mean ${near}?`,
  })
}

/** 404 */
export function routeNotFound(): Problem {
  return new Problem({ status: 404, code: 'route_not_found', detail: 'there is no such address' })
}

/** For routes that have no such method. `allowed`: what they have. */
export function methodNotAllowed(...allowed: string[]): RequestHandler {
  return (req) => {
    const list = allowed.join(', ')
    throw new Problem({
      status: 405,
      code: 'method_not_allowed',
      detail: `expected ${list} for this address but received ${req.method}`,
      headers: { Allow: list },
    })
  }
}

function sendProblem(res: Response, problem: Problem): void {
  // Whatever a handler had prepared was for another answer; CORS stays, or a page could not read this one.
  for (const name of [
    'ETag',
    'Last-Modified',
    'Content-Range',
    'Content-Disposition',
    'Content-Length',
    'Accept-Ranges',
  ]) {
    res.removeHeader(name)
  }
  for (const [name, value] of Object.entries(problem.headers)) res.setHeader(name, value)
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.status(problem.status).type('application/problem+json')
  const bytes = problemDocument(problem, requestId(res))
  res.setHeader('Content-Length', bytes.length)
  res.end(bytes)
}

/** The body of a problem. `instance`: the request's id. */
export function problemDocument(problem: Problem, instance: string): Buffer {
  const body = {
    type: `urn:sluice:problem:${problem.code}`,
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    instance,
    ...problem.members,
  }
  return Buffer.from(JSON.stringify(body))
}

/** Problems as they are; what Express throws by its status; everything else is ours: 500. */
function asProblem(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  const { status } = (cause ?? {}) as { status?: unknown }
  if (typeof status === 'number' && status >= 400 && status < 500) {
    const detail =
      cause instanceof URIError
        ? 'expected a path in valid percent-encoding'
        : 'expected a well-formed request'
    return new Problem({ status, code: 'bad_request', detail, cause })
  }
  const detail = 'internal error; the log has the cause under this instance id'
  return new Problem({ status: 500, code: 'internal', detail, cause })
}

function requestId(res: Response): string {
  return String(res.getHeader('X-Request-Id') ?? '')
}

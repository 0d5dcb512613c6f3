import { STATUS_CODES } from 'node:http'
import type { ErrorRequestHandler, Express, RequestHandler, Response } from 'express'
import type { Log } from '../core/log.ts'
import { isRemoteFailure, logReason } from '../core/log-reason.ts'
import { BUSY, Problem, unavailable } from '../core/problem.ts'
import { truncate } from '../core/text/truncate.ts'
import { routeNotFound } from '../core/url-problems.ts'
import { removeCaching } from './caching/set-lifetime.ts'
import { nearestRoute } from './nearest-route.ts'
import { withPlaceholderHint } from './placeholder.ts'
import { stateOf } from './request-state.ts'

/**
 * The only place where errors become responses: `application/problem+json`, never cached, and without any stack, local
 * path or secret. When the headers were already sent, the connection is destroyed instead.
 *
 * @see RFC 9457
 */
export function problemHandler(log: Log): ErrorRequestHandler {
  return (error, req, res, _next) => {
    // The client has disconnected, so there is no response to send.
    if (error instanceof Error && error.name === 'AbortError') return
    const problem = withPlaceholderHint(asProblem(error), req)
    const fields = { requestId: requestId(res), status: problem.status, code: problem.code }
    // A failure of another server is no fault of this service. Logged without a stack: that server must not flood the log.
    if (problem.status >= 500 && isRemoteFailure(problem))
      log.warn({ ...fields, reason: logReason(problem) }, 'a remote server failed')
    // A shared limit that refuses requests is no failure, and callers must not be able to flood the log.
    else if (problem.members.reason === BUSY)
      log.warn({ ...fields, reason: logReason(problem) }, 'a request was refused')
    // 501 is no error: the request is not supported, and no part of the service has failed.
    else if (problem.status >= 500 && problem.status !== 501)
      log.error({ ...fields, err: error }, 'a request failed')
    // The client has disconnected, for example in the middle of a form.
    else if (res.destroyed) return
    // Logs, for example, why an image cannot be read. Errors of Express quote the request, which may contain a secret.
    else if (error instanceof Problem && error.cause !== undefined)
      log.info({ ...fields, reason: logReason(error.cause) }, 'a request was refused')
    stateOf(req).problemCode = problem.code
    stateOf(req).hasBrokenOff = res.headersSent && problem.status >= 500
    if (res.headersSent) res.destroy()
    else if (!res.destroyed) sendProblem(res, problem, stateOf(req).traceId)
  }
}

/**
 * Makes every aborted response reset its connection. HTTP/1.0 has no chunks, so after a normal close the client would
 * take a truncated archive for a complete one.
 */
export function resetWhenBrokenOff({ response }: Express): void {
  const { destroy } = response
  response.destroy = function (this: Response, error) {
    if (this.socket && !this.socket.destroyed) this.socket.resetAndDestroy()
    return destroy.call(this, error)
  }
}

/** Answers 404 for paths that no route matches, and names the nearest of these routes. */
export function notFound(routes: readonly string[]): RequestHandler {
  return ({ method, path }) => {
    const near = nearestRoute(method, path, routes)
    if (near === undefined) throw routeNotFound()
    throw routeNotFound().with({
      detail: `No route matches ${method} ${truncate(path)}. Did you mean ${near}?`,
    })
  }
}

/** 405 for routes that do not support the method. `allowed` are the supported ones. */
export function methodNotAllowed(...allowed: string[]): RequestHandler {
  return (req) => {
    const list = allowed.join(', ')
    throw new Problem({
      status: 405,
      code: 'method_not_allowed',
      detail: `expected ${list} for this path but received ${req.method}`,
      headers: { Allow: list },
    })
  }
}

function sendProblem(res: Response, problem: Problem, traceId: string | undefined): void {
  // Headers that a handler has already set describe another response. CORS headers remain, so that a page can read this one.
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
  removeCaching(res)
  for (const [name, value] of Object.entries(problem.headers)) res.setHeader(name, value)
  res.setHeader('Cache-Control', 'no-store')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.status(problem.status).type('application/problem+json')
  const bytes = problemDocument(problem, { instance: requestId(res), traceId })
  res.setHeader('Content-Length', bytes.length)
  res.end(bytes)
}

/** The body of a problem. `instance` is the ID of the request, `traceId` that of its trace. */
export function problemDocument(
  problem: Problem,
  { instance, traceId }: { instance: string; traceId?: string | undefined },
): Buffer {
  const body = {
    type: `urn:sluice:problem:${problem.code}`,
    title: STATUS_CODES[problem.status] ?? 'Error',
    status: problem.status,
    detail: problem.message,
    code: problem.code,
    instance,
    // JSON leaves out what is undefined.
    traceId,
    ...problem.members,
  }
  return Buffer.from(JSON.stringify(body))
}

/** Problems stay as they are. Errors of Express keep their status. All other errors are our own: 500, or 503 when a retry may help. */
function asProblem(cause: unknown): Problem {
  if (cause instanceof Problem) return cause
  const { status, code } = (cause ?? {}) as { status?: unknown; code?: unknown }
  if (code === 'EMFILE' || code === 'ENFILE')
    return unavailable('Too many files are open. Retry later.', { cause })
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

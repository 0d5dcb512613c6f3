import { randomUUID } from 'node:crypto'
import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/ports/metrics.ts'
import { Problem } from '../../core/problem.ts'
import { problemDocument } from '../problem.ts'
import { trafficSince } from './byte-counter.ts'
import { LATE_SENDER_MS } from './drain.ts'

/**
 * Responds to malformed requests, which node:http cannot parse, with a problem document. Then the connection is closed: the
 * start of the next request is unknown, which request smuggling exploits. The log has the error, but not the bytes, which may
 * contain a secret. The metrics count a request without a route, and without a method if none was received.
 */
export function handleParseErrors(
  server: Server,
  {
    maxHeaderBytes,
    log,
    metrics,
  }: { maxHeaderBytes: number; log: Log; metrics: Pick<Metrics, 'requestEnded'> },
): void {
  const openResponses = openResponsesOf(server)
  const count = (socket: Socket, method: string, { status, code }: Problem) =>
    metrics.requestEnded({ route: undefined, method, status, code, seconds: 0, ...trafficSince(socket) })
  const refused = new WeakSet<Duplex>()
  server.on('clientError', (error: NodeJS.ErrnoException & { reason?: string }, socket: Socket) => {
    // The response was sent already, and the client is still sending.
    if (refused.has(socket)) return
    refused.add(socket)
    // The client has disconnected within its request, or reset the connection: there is no one to respond to.
    if (error.code === 'HPE_INVALID_EOF_STATE' || !socket.writable) {
      socket.destroy()
      return
    }
    const problem = asProblem(error, maxHeaderBytes)
    const requestId = randomUUID()
    const { status, code } = problem
    log.info({ requestId, status, code, reason: error.reason ?? error.message }, 'malformed request')
    // A response in progress must not be followed by a second one in the middle of its body.
    const pending = openResponses(socket)
    if (pending.some(({ headersSent }) => headersSent)) {
      socket.destroy()
      return
    }
    // A malformed body: its request is counted when it ends.
    const ended = () => pending.length > 0 || count(socket, 'none', problem)
    refuse(socket, problem, { requestId, ended })
  })
  // Node would close the connection without a response.
  server.on('connect', (_req, socket: Socket) => {
    const requestId = randomUUID()
    const { status, code } = noProxy
    log.info({ requestId, status, code }, 'malformed request')
    refuse(socket, noProxy, { requestId, ended: () => count(socket, 'CONNECT', noProxy) })
  })
}

function refuse(
  socket: Socket,
  problem: Problem,
  { requestId, ended }: { requestId: string; ended: () => void },
): void {
  // A disconnect at this point needs no handling.
  socket.on('error', () => {})
  socket.end(errorResponse(problem, requestId), ended)
  const timer = setTimeout(() => socket.destroy(), LATE_SENDER_MS)
  socket.once('close', () => clearTimeout(timer))
}

const noProxy = new Problem({
  status: 400,
  code: 'bad_request',
  detail: 'CONNECT is not supported: this service is not a proxy.',
})

/** Tracks the pending responses of each connection. The first one may be in progress. */
function openResponsesOf(server: Server): (socket: Duplex) => ServerResponse[] {
  const bySocket = new WeakMap<Duplex, ServerResponse[]>()
  const openResponses = (socket: Duplex) =>
    (bySocket.get(socket) ?? []).filter(({ writableFinished }) => !writableFinished)
  server.on('request', ({ socket }, res) => bySocket.set(socket, [...openResponses(socket), res]))
  return openResponses
}

function asProblem({ code }: NodeJS.ErrnoException, maxHeaderBytes: number): Problem {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new Problem({
        status: 431,
        code: 'headers_too_large',
        detail: `expected a request line and headers of at most ${maxHeaderBytes} bytes but received more`,
        members: { maxBytes: maxHeaderBytes },
      })
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new Problem({
        status: 408,
        code: 'request_timeout',
        detail: 'The request headers were not received in time.',
      })
    case 'HPE_INVALID_URL':
      return new Problem({
        status: 400,
        code: 'bad_request',
        detail: 'The request target must be percent-encoded ASCII.',
      })
    default:
      return new Problem({ status: 400, code: 'bad_request', detail: 'expected a well-formed HTTP request' })
  }
}

function errorResponse(problem: Problem, requestId: string): Buffer {
  const body = problemDocument(problem, { instance: requestId })
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json',
    `Content-Length: ${body.length}`,
    'Cache-Control: no-store',
    'X-Content-Type-Options: nosniff',
    `X-Request-Id: ${requestId}`,
    'Connection: close',
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { stateOf } from '../request-state.ts'

// Few clients pipeline, and those that do send a few requests. A connection with this many waiting holds about 100 KB.
const WAITING_MAX = 32

interface Line {
  waiting: Array<() => void>
  /** A request was refused: its response is the last one of the connection. */
  ended: boolean
}

// Present while a request of the connection is in progress, and when the line has ended. A property costs less than a WeakMap.
const LINE = Symbol('line of requests')
type Connection = Socket & { [LINE]?: Line | undefined }

/**
 * Handles pipelined requests one after another, so that the cost of a connection does not grow with them, and a client cannot
 * exceed other limits by pipelining. This is the first middleware: before its turn, a request has no timers, and its body is
 * not read. During its turn the request owns the connection: its response closes when the connection does. A request is never
 * handled if the client disconnects before its turn, or if a response has ended the connection.
 *
 * @see RFC 9112 section 9.3.2
 */
export const serializePipelined: RequestHandler = (req, res, next) => {
  const socket: Connection = req.socket
  // The hot path has waited for the turn, and passes the request on.
  if (stateOf(req).hasTurn) return next()
  const begin = () => {
    stateOf(req).hasTurn = true
    // By then, Node has assigned the connection to the next response.
    res.once('close', () => {
      const line = socket[LINE]
      const following = line?.waiting.shift()
      if (following) following()
      else if (!line?.ended) socket[LINE] = undefined
    })
    next()
  }
  const line = socket[LINE]
  if (line === undefined) {
    socket[LINE] = { waiting: [], ended: false }
    begin()
  } else if (!line.ended && line.waiting.length < WAITING_MAX) {
    line.waiting.push(() => {
      if (res.socket) begin()
    })
  } else {
    // Respond at once: Node buffers the response until its turn, and stops reading when 16 KB are buffered.
    line.ended = true
    stateOf(req).exceedsPipeline = true
    next()
  }
}

/** Whether no request of this connection is in progress or waits. */
export function isIdle(connection: Socket): boolean {
  const socket: Connection = connection
  return socket[LINE] === undefined
}

/**
 * Refuses the requests that {@link serializePipelined} has marked. It runs later, when the request has an id and is logged.
 *
 * @throws Problem 429, which closes the connection
 */
export const limitPipelining: RequestHandler = (req, _res, next) => {
  if (!stateOf(req).exceedsPipeline) return next()
  throw new Problem({
    status: 429,
    code: 'too_many_waiting',
    detail: `Too many pipelined requests on this connection (limit ${WAITING_MAX}). Wait for responses.`,
    members: { maxWaiting: WAITING_MAX },
    headers: { Connection: 'close', 'Retry-After': '1' },
  })
}

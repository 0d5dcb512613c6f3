import type { Socket } from 'node:net'
import type { RequestHandler } from 'express'
import { Problem } from '../../core/problem.ts'
import { stateOf } from '../request-state.ts'

// Hardly anybody pipelines at all, and those who do send a few; a connection with these waiting holds about 100 KB.
const WAITING_MAX = 32

interface Line {
  waiting: Array<() => void>
  /** One has been refused: its answer is the last one of the connection. */
  ended: boolean
}

// Of connections on which a request is being handled, or none is any more.
const lines = new WeakMap<Socket, Line>()

/**
 * Handles the requests of a connection one after another, however many have been sent without waiting for answers: what
 * a connection costs does not grow with them, and nobody gets more than one at a time by it. The first middleware: until
 * its turn nothing of a request has begun, its body is not read, and no time runs against it. It has the connection
 * then, so that its response closes when that does. A request whose turn never comes, since the client has left or an
 * answer has ended the connection, is not handled.
 *
 * @see RFC 9112 section 9.3.2
 */
export const serializePipelined: RequestHandler = (req, res, next) => {
  const { socket } = req
  const begin = () => {
    // Node has given the connection to the next answer by then.
    res.once('close', () => {
      const line = lines.get(socket)
      const following = line?.waiting.shift()
      if (following) following()
      else if (!line?.ended) lines.delete(socket)
    })
    next()
  }
  const line = lines.get(socket)
  if (line === undefined) {
    lines.set(socket, { waiting: [], ended: false })
    begin()
  } else if (!line.ended && line.waiting.length < WAITING_MAX) {
    line.waiting.push(() => {
      if (res.socket) begin()
    })
  } else {
    // At once: Node keeps the answer until its turn, and stops reading when it keeps 16 KB of them.
    line.ended = true
    stateOf(req).exceedsPipeline = true
    next()
  }
}

/**
 * Refuses what {@link serializePipelined} has found to be too many, once there is an id to refuse it with.
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

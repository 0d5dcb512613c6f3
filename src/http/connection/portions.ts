import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { stateOf } from '../request-state.ts'

/** How many requests of one lane begin in one turn of the event loop. */
const MOST_PER_TURN = 32

/** Options of {@link inPortions}. */
export interface PortionOptions {
  /** Whether a request uses the urgent lane, and waits only for other urgent requests. */
  isUrgent: (req: IncomingMessage) => boolean
  /** Calls back in the next turn of the event loop, after it has polled for input. */
  later?: (turn: () => void) => void
}

interface Lane {
  /** Requests that wait, in the order of arrival. */
  waiting: Array<{ req: IncomingMessage; begin: () => void }>
  /** How many have begun in this turn of the event loop. */
  begun: number
}

/**
 * Begins at most 32 requests, and 32 urgent ones, in one turn of the event loop. The others wait for the next turns, in the order
 * of arrival. When thousands of clients connect at the same moment, Node reads up to 900 of their requests in one turn. To begin
 * all of them took up to 1 s, during which health checks had no response.
 *
 * A request whose connection closes before it has begun is not handled. Use it after `serializePipelined`, so that at most one
 * request of a connection waits here.
 */
export function inPortions({ isUrgent, later = setImmediate }: PortionOptions): RequestHandler {
  const urgent: Lane = { waiting: [], begun: 0 }
  const others: Lane = { waiting: [], begun: 0 }
  const lanes = [urgent, others]
  let isScheduled = false

  const schedule = () => {
    if (isScheduled) return
    isScheduled = true
    later(turn)
  }
  const turn = () => {
    isScheduled = false
    // Schedule first, so that a request that throws does not block the ones after it.
    if (lanes.some(({ waiting }) => waiting.length > 0)) schedule()
    for (const lane of lanes) {
      lane.begun = 0
      beginWaiting(lane)
    }
  }
  const beginWaiting = (lane: Lane) => {
    while (lane.begun < MOST_PER_TURN) {
      const next = lane.waiting.shift()
      if (next === undefined) return
      if (!next.req.socket.destroyed) beginIn(lane, next.begin)
    }
  }
  const beginIn = (lane: Lane, begin: () => void) => {
    lane.begun += 1
    schedule()
    begin()
  }

  return (req, _res, next) => {
    // Respond to refused requests at once: Node stops reading a connection when it has buffered 16 KB of responses.
    if (stateOf(req).exceedsPipeline) return next()
    const lane = isUrgent(req) ? urgent : others
    if (lane.waiting.length === 0 && lane.begun < MOST_PER_TURN) beginIn(lane, next)
    else lane.waiting.push({ req, begin: next })
  }
}

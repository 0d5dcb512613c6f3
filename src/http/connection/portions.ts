import type { IncomingMessage } from 'node:http'
import type { RequestHandler } from 'express'
import { stateOf } from '../request-state.ts'

/** How many requests of one kind begin in one turn of the event loop. */
const MOST_PER_TURN = 32

/** Options of {@link inPortions}. */
export interface PortionOptions {
  /** Whether a request waits for no others but those of its kind. */
  isUrgent: (req: IncomingMessage) => boolean
  /** Calls back after the event loop has looked for what has come. */
  later?: (turn: () => void) => void
}

interface Lane {
  /** In the order of arrival. */
  waiting: Array<{ req: IncomingMessage; begin: () => void }>
  /** In this turn of the event loop. */
  begun: number
}

/**
 * Begins at most 32 requests in one turn of the event loop, and 32 urgent ones; the others wait for the next turns, in the order of
 * arrival. When thousands of clients connect at the same moment, Node reads up to 900 of their requests in one turn: to begin all
 * of them took up to 1 s, in which no health check was answered. Few requests begin at once.
 *
 * A request whose connection closes before it has begun is not handled. To be used after `serializePipelined`: one request of a connection waits
 * here at most.
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
    // Before the requests, so that one that throws does not stop those behind it.
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
    // Node stops reading a connection when it keeps 16 KB of answers: those that refuse requests have to be written at once.
    if (stateOf(req).exceedsPipeline) return next()
    const lane = isUrgent(req) ? urgent : others
    if (lane.waiting.length === 0 && lane.begun < MOST_PER_TURN) beginIn(lane, next)
    else lane.waiting.push({ req, begin: next })
  }
}

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

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
  waiting: Array<{ req: IncomingMessage; res: ServerResponse }>
  /** In this turn of the event loop. */
  begun: number
}

/**
 * Begins at most 32 requests in one turn of the event loop, and 32 urgent ones; the others wait for the next turns, in the order of
 * arrival. When thousands of clients connect at the same moment, Node reads all their requests in one turn: the first steps of 2,000
 * took it 0.9 s, in which no health check was answered. Few requests begin at once.
 *
 * A request whose connection closes before it has begun is not handled. Of one connection no request overtakes another.
 */
export function inPortions(
  handle: RequestListener,
  { isUrgent, later = setImmediate }: PortionOptions,
): RequestListener {
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
      if (!next.req.socket.destroyed) begin(lane, next.req, next.res)
    }
  }
  const begin = (lane: Lane, req: IncomingMessage, res: ServerResponse) => {
    lane.begun += 1
    schedule()
    handle(req, res)
  }

  return (req, res) => {
    // Node gives the connection to an answer when those before it are sent: without it, an earlier request may still wait.
    const lane = res.socket && isUrgent(req) ? urgent : others
    if (lane.waiting.length === 0 && lane.begun < MOST_PER_TURN) begin(lane, req, res)
    else lane.waiting.push({ req, res })
  }
}

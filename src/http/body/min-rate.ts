import type { Request } from 'express'
import { Problem } from '../../core/problem.ts'

// The same grace period as in Kestrel: a connection needs to ramp up, and a phone may change its cell.
const GRACE_SECONDS = 5
const LOOK_EVERY_MS = 1000

/**
 * Detects clients that hold a connection by sending almost nothing: less than this rate on average, after a grace
 * period of five seconds. Only seconds in which we could receive more are counted: a body that waits for us, or for the
 * bucket, may take as long as that takes. A stalled body, even after a fast start, is covered by IDLE_TIMEOUT_SECONDS.
 *
 * @param minBytesPerSecond 0 disables the check
 * @param tooSlow called with a Problem 408, at most once
 * @returns stops the check; the end of the body also stops it
 */
export function watchRate(
  req: Request,
  minBytesPerSecond: number,
  tooSlow: (problem: Problem) => void,
): () => void {
  // Bytes that arrived together with the headers count, too.
  const before = req.socket.bytesRead - req.readableLength
  // Counts checks, not elapsed time: while this process is blocked, no client can send anything.
  let seconds = 0
  const stop = () => clearInterval(looking)
  const look = () => {
    if (req.complete || req.destroyed) return stop()
    // The buffer is full, so Node has stopped reading from the socket.
    if (req.readableLength >= req.readableHighWaterMark) return
    seconds += LOOK_EVERY_MS / 1000
    if (seconds <= GRACE_SECONDS || req.socket.bytesRead - before >= minBytesPerSecond * seconds) return
    stop()
    tooSlow(slowBody(minBytesPerSecond, 'nothing was stored'))
  }
  const looking = setInterval(look, LOOK_EVERY_MS)
  return stop
}

/** 408. `effect`: what has happened to the bytes that were received, as the end of a sentence. */
export function slowBody(minBytesPerSecond: number, effect: string): Problem {
  return new Problem({
    status: 408,
    code: 'slow_body',
    detail: `expected at least ${minBytesPerSecond} bytes of the body per second but received fewer; ${effect}`,
    members: { minBytesPerSecond },
    headers: { Connection: 'close' },
  })
}

import type { Request } from 'express'
import { Problem } from '../../core/problem.ts'

// Kestrel gives as much: a connection has to get going, and a phone changes its cell.
const GRACE_SECONDS = 5
const LOOK_EVERY_MS = 1000

/**
 * Tells of a sender that holds a connection by sending almost nothing: less than this on average, after a grace of five
 * seconds. Only the seconds count in which there was room for more: a body that waits for us, or for the bucket, may
 * take as long as that takes. One that stands still is IDLE_TIMEOUT_SECONDS' business, also when it was fast before.
 *
 * @param minBytesPerSecond 0: as slowly as they like
 * @param tooSlow gets a Problem 408, at most once
 * @returns ends it; so does the end of the body
 */
export function watchRate(
  req: Request,
  minBytesPerSecond: number,
  tooSlow: (problem: Problem) => void,
): () => void {
  // What came together with the headers counts, too.
  const before = req.socket.bytesRead - req.readableLength
  // Looks, rather than time: while this process stands still, nobody can send it anything.
  let seconds = 0
  const stop = () => clearInterval(looking)
  const look = () => {
    if (req.complete || req.destroyed) return stop()
    // Then Node has stopped reading from the socket.
    if (req.readableLength >= req.readableHighWaterMark) return
    seconds += LOOK_EVERY_MS / 1000
    if (seconds <= GRACE_SECONDS || req.socket.bytesRead - before >= minBytesPerSecond * seconds) return
    stop()
    tooSlow(slowBody(minBytesPerSecond, 'nothing was kept'))
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

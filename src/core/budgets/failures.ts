import { Problem } from '../problem.ts'
import { EMPTY, TOO_SLOW } from '../transform-problems.ts'

/** Remembers transformations that failed permanently, so that a broken file costs its work once. */
export interface Failures {
  /** @throws Problem with which this work failed recently */
  check(name: string): void
  /**
   * Remembers a failure that would repeat: a 422 about the file itself. Ignores all others, and 422s about a file
   * that a parameter names or about a file without its bytes. A timeout is remembered for a minute, then twice as
   * long for each repetition, up to an hour.
   */
  remember(name: string, error: unknown): void
}

const REMEMBERED = 10_000
const FOR_MS = 60 * 60_000
// Time limits use the wall clock. On a busy machine an audio file can exceed one, so the first time must not cost an
// hour.
const SLOW_FOR_MS = 60_000

interface Failure {
  problem: Problem
  forMs: number
  until: number
}

/**
 * Remembers up to 10,000 failures in the memory of this process, each for up to an hour. A change of limits needs a
 * restart, which clears them.
 *
 * @param now milliseconds since 1970
 */
export function createFailures(now: () => number = Date.now): Failures {
  const failures = new Map<string, Failure>()
  return {
    check(name) {
      const known = failures.get(name)
      if (known && known.until > now()) throw known.problem
    },
    remember(name, error) {
      if (!(error instanceof Problem) || error.status !== 422 || error.members.param !== undefined) return
      if (error.members.reason === EMPTY) return
      const isSlow = error.members.reason === TOO_SLOW
      const before = failures.get(name)
      // Each caller that waited for the same work reports its failure.
      if (isSlow && before && before.until > now()) return
      const forMs = isSlow ? afterSlow(before, now()) : FOR_MS
      failures.delete(name)
      failures.set(name, { problem: error, forMs, until: now() + forMs })
      const [oldest] = failures.keys()
      if (failures.size > REMEMBERED && oldest !== undefined) failures.delete(oldest)
    },
  }
}

/** How long to remember a timeout, given the previous one. */
function afterSlow(before: Failure | undefined, nowMs: number): number {
  const isRepeated = before !== undefined && nowMs - before.until < FOR_MS
  return isRepeated ? Math.min(before.forMs * 2, FOR_MS) : SLOW_FOR_MS
}

import { Problem } from '../problem.ts'
import { EMPTY, TOO_SLOW } from '../transform-problems.ts'

/** Transformations that have failed for good, so that a broken file costs once. */
export interface Failures {
  /** @throws Problem what this work has failed with lately */
  check(name: string): void
  /**
   * Remembers a failure that the same work would end with again: a 422 that is about the file itself. Ignores all others, and
   * those about a file that a parameter names, or that has lost its bytes. What took too long is remembered for a minute, and
   * twice as long each time it happens again, up to an hour.
   */
  remember(name: string, error: unknown): void
}

const REMEMBERED = 10_000
const FOR_MS = 60 * 60_000
// Time limits are of the clock. On a busy machine a sound file can exceed one, so the first time must not cost an hour.
const SLOW_FOR_MS = 60_000

interface Failure {
  problem: Problem
  forMs: number
  until: number
}

/**
 * In the memory of one process, the last 10,000 for an hour: a restart, which is what another limit takes, forgets them.
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
      // Each caller who waited for the same work remembers its failure.
      if (isSlow && before && before.until > now()) return
      const forMs = isSlow ? afterSlow(before, now()) : FOR_MS
      failures.delete(name)
      failures.set(name, { problem: error, forMs, until: now() + forMs })
      const [oldest] = failures.keys()
      if (failures.size > REMEMBERED && oldest !== undefined) failures.delete(oldest)
    },
  }
}

/** For how long to remember work that took too long, given how it failed before. */
function afterSlow(before: Failure | undefined, nowMs: number): number {
  const isRepeated = before !== undefined && nowMs - before.until < FOR_MS
  return isRepeated ? Math.min(before.forMs * 2, FOR_MS) : SLOW_FOR_MS
}

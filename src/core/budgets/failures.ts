import { Problem, type ProblemJson } from '../problem.ts'
import { EMPTY, TOO_SLOW } from '../transform-problems.ts'
import { boundedCache } from './bounded-cache.ts'

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

const MAX_BYTES = 4_000_000
const FOR_MS = 60 * 60_000
// Time limits use the wall clock. On a busy machine an audio file can exceed one, so the first time must not cost an
// hour.
const SLOW_FOR_MS = 60_000
const PURGED_EVERY_MS = 60_000

interface Failure {
  /** Plain data: an error keeps its stack with everything in it alive, the request and the bytes of the file too. */
  problem: ProblemJson
  forMs: number
  until: number
}

/**
 * Remembers failures in the memory of this process, each for up to an hour, in up to 4 MB: about 4,000. A change of limits
 * needs a restart, which clears them.
 *
 * @param now milliseconds since 1970
 */
export function createFailures(now: () => number = Date.now): Failures {
  const failures = boundedCache<Failure>({
    maxBytes: MAX_BYTES,
    bytesOf: ({ problem }) => 2 * JSON.stringify(problem).length,
  })
  let purgedAt = now()

  /** A timeout that has ended still makes the next one longer. */
  function purge(): void {
    if (now() - purgedAt < PURGED_EVERY_MS) return
    purgedAt = now()
    for (const [name, { problem, until }] of failures.entries())
      if (now() > until + (isSlow(problem) ? FOR_MS : 0)) failures.delete(name)
  }

  return {
    check(name) {
      const known = failures.get(name)
      if (known && known.until > now()) throw Problem.fromJSON(known.problem)
    },
    remember(name, error) {
      if (!(error instanceof Problem) || error.status !== 422 || error.members.param !== undefined) return
      if (error.members.reason === EMPTY) return
      const before = failures.peek(name)
      // Each caller that waited for the same work reports its failure.
      if (isSlow(error) && before && before.until > now()) return
      const forMs = isSlow(error) ? afterSlow(before, now()) : FOR_MS
      failures.set(name, { problem: error.toJSON(), forMs, until: now() + forMs })
      purge()
    },
  }
}

function isSlow({ members }: Pick<ProblemJson, 'members'>): boolean {
  return members?.reason === TOO_SLOW
}

/** How long to remember a timeout, given the previous one. */
function afterSlow(before: Failure | undefined, nowMs: number): number {
  const isRepeated = before !== undefined && nowMs - before.until < FOR_MS
  return isRepeated ? Math.min(before.forMs * 2, FOR_MS) : SLOW_FOR_MS
}

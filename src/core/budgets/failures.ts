import { EMPTY, Problem } from '../problem.ts'

/** Transformations that have failed for good, so that a broken file costs once. */
export interface Failures {
  /** @throws Problem what this work has failed with lately */
  check(name: string): void
  /**
   * Remembers a failure that the same work would end with again: a 422 that is about the file itself. Ignores all others, and
   * those about a file that a parameter names, or that has lost its bytes.
   */
  remember(name: string, error: unknown): void
}

const REMEMBERED = 10_000
const FOR_MS = 60 * 60_000

/**
 * In the memory of one process, the last 10,000 for an hour: a restart, which is what another limit takes, forgets them.
 *
 * @param now milliseconds since 1970
 */
export function createFailures(now: () => number = Date.now): Failures {
  const failures = new Map<string, { problem: Problem; until: number }>()
  return {
    check(name) {
      const known = failures.get(name)
      if (!known) return
      if (known.until > now()) throw known.problem
      failures.delete(name)
    },
    remember(name, error) {
      if (!(error instanceof Problem) || error.status !== 422 || error.members.param !== undefined) return
      if (error.members.reason === EMPTY) return
      failures.delete(name)
      failures.set(name, { problem: error, until: now() + FOR_MS })
      const [oldest] = failures.keys()
      if (failures.size > REMEMBERED && oldest !== undefined) failures.delete(oldest)
    },
  }
}

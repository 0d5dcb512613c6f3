import pLimit from 'p-limit'
import { unavailable } from '../core/problem.ts'

/** Lets work in, some at a time. @throws Problem 503 at once when too many wait already */
export type Admission = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

export function createAdmission({ atOnce, waiting }: { atOnce: number; waiting: number }): Admission {
  const limit = pLimit(atOnce)
  return async (work, signal) => {
    if (limit.pendingCount >= waiting) {
      throw unavailable('too many transformations wait already; try again in a few seconds')
    }
    return limit(() => {
      // Whoever has left while waiting costs nothing any more.
      signal.throwIfAborted()
      return work()
    })
  }
}

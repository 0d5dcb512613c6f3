import pLimit from 'p-limit'
import { unavailable } from '../core/problem.ts'

/** Lets work in, some at a time. @throws Problem 503 at once when too many wait already */
export type Admission = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

export function createAdmission({ atOnce, waiting }: { atOnce: number; waiting: number }): Admission {
  const limit = pLimit(atOnce)
  // Those in the queue that have left: their places are free, though their turns still come.
  let left = 0
  return async (work, signal) => {
    signal.throwIfAborted()
    if (limit.pendingCount - left >= waiting) {
      throw unavailable('too many transformations wait already; try again in a few seconds')
    }
    const leave = () => {
      left += 1
    }
    signal.addEventListener('abort', leave, { once: true })
    return limit(() => {
      signal.removeEventListener('abort', leave)
      if (signal.aborted) left -= 1
      signal.throwIfAborted()
      return work()
    })
  }
}

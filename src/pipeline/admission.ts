import pLimit from 'p-limit'
import { unavailable } from '../core/problem.ts'

/** Lets work in, some at a time. @throws Problem 503 at once when too many wait already */
export type Admission = <T>(work: () => Promise<T>, signal: AbortSignal) => Promise<T>

/** An admission that can be watched. */
export type WatchedAdmission = Admission & { load(): { running: number; waiting: number } }

export function createAdmission({ atOnce, waiting }: { atOnce: number; waiting: number }): WatchedAdmission {
  const limit = pLimit(atOnce)
  // Those in the queue that have left: their places are free, though their turns still come.
  let left = 0
  const admit: Admission = async (work, signal) => {
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
  const load = () => ({ running: limit.activeCount, waiting: limit.pendingCount - left })
  return Object.assign(admit, { load })
}

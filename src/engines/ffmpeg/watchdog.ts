import { anySignal } from '../../core/async/any-signal.ts'
import { Problem } from '../../core/problem.ts'

/** Options of a watch over work that may hang. */
export interface StallWatch {
  group: 'video' | 'audio'
  /** Maximum time without progress, in milliseconds; half a minute by default. */
  stallMs?: number | undefined
  signal: AbortSignal
  /** The last progress that the work does not report itself, in milliseconds since 1970. */
  movedAt?: () => Promise<number>
}

const STALL_MS = 30_000

/**
 * Aborts the signal of the work when it makes no progress.
 *
 * @param work calls `moved` after each progress
 * @throws Problem 504, `signal.reason`, the errors of the work
 */
export async function withStallTimeout<T>(
  { group, stallMs = STALL_MS, signal, movedAt = async () => 0 }: StallWatch,
  work: (signal: AbortSignal, moved: () => void) => Promise<T>,
): Promise<T> {
  const stalled = new AbortController()
  const joined = anySignal([signal, stalled.signal])
  let lastMoved = Date.now()
  const watching = setInterval(async () => {
    const last = Math.max(lastMoved, await movedAt())
    if (Date.now() - last > stallMs) stalled.abort(noProgress(group, stallMs))
  }, stallMs / 10)
  try {
    return await work(joined.signal, () => {
      lastMoved = Date.now()
    })
  } finally {
    clearInterval(watching)
    joined.leave()
  }
}

/** Problem 504: the machine may have been stopped, or the decoder hangs. */
function noProgress(group: 'video' | 'audio', stallMs: number): Problem {
  return new Problem({
    status: 504,
    code: 'no_progress',
    detail: `The transformation of this ${group} made no progress for ${stallMs / 1000} s and was stopped.`,
  })
}

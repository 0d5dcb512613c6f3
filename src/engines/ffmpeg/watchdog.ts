import { anySignal } from '../../core/async/any-signal.ts'
import { Problem } from '../../core/problem.ts'

/** Watches over work that may stand still. */
export interface StallWatch {
  group: 'video' | 'audio'
  /** How long it may stand still; half a minute when not given. */
  stallMs?: number | undefined
  signal: AbortSignal
  /** When else it has moved, in milliseconds since 1970, where it does not say so itself. */
  movedAt?: () => Promise<number>
}

const STALL_MS = 30_000

/**
 * Ends work that stands still: its signal is aborted then.
 *
 * @param work calls `moved` whenever something has been done
 * @throws Problem 504, `signal.reason`, whatever the work throws
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

/** 504: the machine may have stood still, or the decoder has lost itself. */
function noProgress(group: 'video' | 'audio', stallMs: number): Problem {
  return new Problem({
    status: 504,
    code: 'no_progress',
    detail: `The transformation of this ${group} made no progress for ${stallMs / 1000} s and was stopped.`,
  })
}

import type { Metrics, TransformOutcome } from '../../core/ports/metrics.ts'
import { Problem } from '../../core/problem.ts'

/** Times a part of a transformation. What it fails with is passed on. */
export type Timed = <T>(part: () => Promise<T>) => Promise<T>

/**
 * Does a transformation, and tells of it: one, whatever the number of its parts, with the seconds that they have taken
 * together. Time between them is a wait, and one that has failed there has not run.
 */
export async function measured<T>(
  work: (timed: Timed) => Promise<T>,
  { metrics, signal }: { metrics: Pick<Metrics, 'transformed'>; signal: AbortSignal },
): Promise<T> {
  let seconds = 0
  let failure: { error: unknown } | undefined
  const timed: Timed = async (part) => {
    const startedAt = performance.now()
    try {
      return await part()
    } catch (error) {
      failure = { error }
      throw error
    } finally {
      seconds += (performance.now() - startedAt) / 1000
    }
  }
  try {
    const outcome = await work(timed)
    metrics.transformed({ outcome: 'done', seconds })
    return outcome
  } catch (error) {
    if (failure) metrics.transformed({ outcome: outcomeOf(failure.error, signal), seconds })
    throw error
  }
}

/** How a transformation has ended that has failed. */
function outcomeOf(error: unknown, signal: AbortSignal): TransformOutcome {
  // Also one that was aborted since its time was over.
  if (error instanceof Problem && error.status < 500) return 'refused'
  return signal.aborted ? 'aborted' : 'failed'
}

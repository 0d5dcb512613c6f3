import type { Asset } from '../../core/bytes/asset.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import type { Metrics, TransformOutcome } from '../../core/ports/metrics.ts'
import { Problem } from '../../core/problem.ts'

/** Times a part of a transformation. Errors of the part are thrown on. */
export type Timed = <T>(part: () => Promise<T>) => Promise<T>

/**
 * Runs a transformation and records it in the metrics: once, whatever the number of its parts, with the sum of their
 * seconds. Time between the parts is waiting time, and a failure there is not recorded.
 */
export async function measured(
  work: (timed: Timed) => Promise<Asset>,
  { metrics, signal }: { metrics: Pick<Metrics, 'transformed'>; signal: AbortSignal },
): Promise<Asset> {
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
    const output = await work(timed)
    metrics.transformed({ outcome: 'done', format: formatOfMediaType(output.mediaType).name, seconds })
    return output
  } catch (error) {
    if (failure)
      metrics.transformed({ outcome: outcomeOf(failure.error, signal), format: undefined, seconds })
    throw error
  }
}

/** The outcome of a failed transformation. */
function outcomeOf(error: unknown, signal: AbortSignal): TransformOutcome {
  // Includes a transformation that was aborted at its time limit.
  if (error instanceof Problem && error.status < 500) return 'refused'
  return signal.aborted ? 'aborted' : 'failed'
}

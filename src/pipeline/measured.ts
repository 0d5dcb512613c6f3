import type { Metrics, TransformOutcome } from '../core/ports/metrics.ts'
import { Problem } from '../core/problem.ts'
import type { Runner } from './run.ts'

/** The same runner, with each run told. */
export function measuredRunner(run: Runner, metrics: Pick<Metrics, 'transformed'>): Runner {
  return async (plan, source, context) => {
    const startedAt = performance.now()
    const tell = (outcome: TransformOutcome) =>
      metrics.transformed({ outcome, seconds: (performance.now() - startedAt) / 1000 })
    try {
      const asset = await run(plan, source, context)
      tell('done')
      return asset
    } catch (error) {
      tell(outcomeOf(error, context.signal))
      throw error
    }
  }
}

/** How a transformation has ended that has failed. */
export function outcomeOf(error: unknown, signal: AbortSignal): TransformOutcome {
  // Also one that was aborted since its time was over.
  if (error instanceof Problem && error.status < 500) return 'refused'
  return signal.aborted ? 'aborted' : 'failed'
}

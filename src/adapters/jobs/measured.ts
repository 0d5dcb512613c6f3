import type { Log } from '../../core/log.ts'
import { isRetryable, type Jobs, NotYet, type WorkOptions } from '../../core/ports/jobs.ts'
import type { JobOutcome, Metrics } from '../../core/ports/metrics.ts'

/** Wraps `jobs`: each attempt is measured, and logged in one line. */
export function measuredJobs(
  jobs: Jobs,
  { metrics, log }: { metrics: Pick<Metrics, 'jobEnded'>; log: Pick<Log, 'info'> },
): Jobs {
  return {
    ...jobs,
    work(kind, handler, options) {
      jobs.work<never>(
        kind,
        async (job, run) => {
          const startedAt = performance.now()
          const ended = (outcome: JobOutcome) => {
            const seconds = (performance.now() - startedAt) / 1000
            metrics.jobEnded({ kind, outcome, seconds })
            // The ID contains the client and the key of the derivative.
            const named = { kind, jobId: job.id, attempt: job.attempt }
            log.info({ ...named, outcome, seconds: Math.round(seconds * 1000) / 1000 }, 'job ended')
          }
          try {
            const result = await handler(job, run)
            ended('done')
            return result
          } catch (error) {
            ended(outcomeOf(error, { attempt: job.attempt, options, signal: run.signal }))
            throw error
          }
        },
        options,
      )
    },
  }
}

/** Makes the metrics read the numbers of jobs of these kinds at each scrape. */
export function watchJobs(jobs: Jobs, kinds: readonly string[], metrics: Pick<Metrics, 'watchJobs'>): void {
  metrics.watchJobs(() => Promise.all(kinds.map(async (kind) => ({ kind, ...(await jobs.counts(kind)) }))))
}

/** How an attempt has ended that has thrown this error. */
export function outcomeOf(
  error: unknown,
  { attempt, options, signal }: { attempt: number; options: WorkOptions; signal: AbortSignal },
): JobOutcome {
  if (error instanceof NotYet) return 'put_off'
  if (signal.aborted) return 'aborted'
  return isRetryable(error) && attempt < options.attempts ? 'retried' : 'failed'
}

import { setMaxListeners } from 'node:events'
import type { Log } from '../../core/log.ts'
import { failureFields } from '../../core/log-reason.ts'
import {
  isRetryable,
  type Job,
  type JobFailure,
  type JobHandler,
  JobRemoved,
  NotYet,
  type WorkOptions,
} from '../../core/ports/jobs.ts'
import { unavailable } from '../../core/problem.ts'
import { inRequest } from '../../core/request-context.ts'
import { ALL_DIED, failureOf, retryDelayMs } from './rules.ts'

/** The next state of a job after an attempt. */
export type Outcome =
  | { next: 'done' }
  | { next: 'retry'; delayMs: number }
  | { next: 'failed'; failure: JobFailure }
  | { next: 'putBack' }
  | { next: 'removed' }
  | { next: 'toDeferral'; delayMs: number }

export interface AttemptOptions {
  work: WorkOptions
  /** When it aborts, the job returns to the queue; with the reason `JobRemoved` it is removed. */
  stop: AbortSignal
  /** Called when the progress, rounded to hundredths, has changed. */
  onProgress(fraction: number): void
  log: Log
  /** Milliseconds that a handler may take to settle after the abort of its signal. Then it is no longer awaited. */
  settleMs?: number
}

// Killing ffmpeg takes a second. A handler that takes longer than this ignores its signal.
export const SETTLE_MS = 5000

/** Runs the handler once, within its limits. Never rejects. */
export async function runAttempt<T>(
  job: Job<T>,
  handler: JobHandler<T>,
  { work, stop, onProgress, log, settleMs = SETTLE_MS }: AttemptOptions,
): Promise<Outcome> {
  const named = { kind: job.kind, jobId: job.id, attempt: job.attempt }
  if (job.attempt > work.attempts) {
    log.error(named, 'job failed: the worker process died on every attempt')
    return { next: 'failed', failure: ALL_DIED }
  }
  if (stop.aborted) return stoppedBy(stop)

  const controller = new AbortController()
  const { signal } = controller
  const stopped = () => controller.abort(stop.reason)
  // One listener per running job: Node would warn of a leak at the eleventh.
  setMaxListeners(0, stop)
  stop.addEventListener('abort', stopped, { once: true })
  const limit = setTimeout(() => controller.abort(unavailable('The job timed out.')), work.limitMs)
  let settling: NodeJS.Timeout | undefined
  const unsettled = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      settling = setTimeout(() => {
        log.error(named, 'job ignored cancellation')
        reject(signal.reason)
      }, settleMs)
    })
  })
  const retryInMs = job.attempt < work.attempts ? retryDelayMs(job.attempt, work) : undefined
  let reported = 0
  let over = false
  const progress = (fraction: number) => {
    const rounded = Math.round(Math.min(Math.max(fraction, 0), 1) * 100) / 100
    if (over || signal.aborted || Number.isNaN(rounded) || rounded === reported) return
    reported = rounded
    onProgress(rounded)
  }

  try {
    await Promise.race([
      // The queue may have been woken by a request that has nothing to do with this job.
      inRequest(undefined, () => Promise.resolve().then(() => handler(job, { signal, progress, retryInMs }))),
      unsettled,
    ])
    return { next: 'done' }
  } catch (thrown) {
    if (stop.aborted) return stoppedBy(stop)
    const error = signal.aborted ? signal.reason : thrown
    if (error instanceof NotYet) return { next: 'toDeferral', delayMs: error.delayMs }
    if (isRetryable(error) && retryInMs !== undefined) {
      log.warn({ ...named, ...failureFields(error), delayMs: retryInMs }, 'job failed and will be retried')
      return { next: 'retry', delayMs: retryInMs }
    }
    log.warn({ ...named, ...failureFields(error) }, 'job failed')
    return { next: 'failed', failure: failureOf(error) }
  } finally {
    over = true
    clearTimeout(limit)
    clearTimeout(settling)
    stop.removeEventListener('abort', stopped)
  }
}

function stoppedBy({ reason }: AbortSignal): Outcome {
  return { next: reason instanceof JobRemoved ? 'removed' : 'putBack' }
}

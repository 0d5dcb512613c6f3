import { anySignal } from '../../core/async/any-signal.ts'
import { type JobHandler, NotYet } from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'

/** How long a job may be deferred while resources are missing or a service is unavailable. */
export const DEFERRED_FOR_MS = 24 * 3_600_000

/**
 * The error that a job throws instead of `error`. Overload, outages, used-up CPU time and missing programs are temporary: they do
 * not count as an attempt while the job may wait.
 */
export function toDeferral(error: unknown, mayWait: boolean): unknown {
  if (!mayWait || !(error instanceof Problem) || !passes(error)) return error
  return new NotYet(1000 * Number(error.members.retryAfterSeconds ?? 5))
}

/**
 * The handler of jobs whose work waits for resources until the time in their data, and returns to the queue when the process
 * stops.
 *
 * @param options `now`: milliseconds since 1970
 */
export function deferrable<T extends { until: number }>(
  work: (data: T, signal: AbortSignal) => Promise<void>,
  { stopping, now }: { stopping: AbortSignal; now: () => number },
): JobHandler<T> {
  return async ({ data }, run) => {
    const { signal, leave } = anySignal([run.signal, stopping])
    try {
      await work(data, signal)
    } catch (error) {
      throw stopping.aborted ? new NotYet(0) : toDeferral(error, data.until > now())
    } finally {
      leave()
    }
  }
}

function passes({ status, code }: Problem): boolean {
  // 423: the PDF of a document is in progress, or the malware scan of the file has not ended.
  return status === 423 || status === 501 || status === 503 || code === 'rate_limited'
}

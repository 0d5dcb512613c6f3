import type { Job, Jobs } from '../../core/ports/jobs.ts'
import type { Tracing } from '../../core/ports/telemetry/tracing.ts'
import { inRequest, sampledTrace, type TraceContext } from '../../core/request-context.ts'
import { outcomeOf } from '../jobs/measured.ts'

/** What the data of a job has in addition: the span of the request that has added it. */
interface Traced {
  trace?: TraceContext
}

/**
 * Wraps `jobs`: each attempt is a trace of its own, with a link to the request that has added the job. Several requests may wait for one
 * job, and it may run hours later.
 */
export function tracedJobs(jobs: Jobs, tracing: Tracing): Jobs {
  return {
    ...jobs,
    enqueue(job) {
      const trace = sampledTrace()
      const { data } = job
      if (!trace || typeof data !== 'object' || data === null) return jobs.enqueue(job)
      return jobs.enqueue({ ...job, data: { ...data, trace } })
    },
    work(kind, handler, options) {
      jobs.work<never>(
        kind,
        async (job: Job<never>, run) => {
          const trace = (job.data as Traced | null)?.trace
          const span = tracing.begin(`process ${kind}`, {
            kind: 'consumer',
            links: trace ? [trace] : [],
            attributes: {
              'messaging.system': 'sluice',
              'messaging.operation.name': 'process',
              'messaging.operation.type': 'process',
              'messaging.destination.name': kind,
              'messaging.message.id': job.id,
              'sluice.attempt': job.attempt,
            },
          })
          try {
            const result = await inRequest({ trace: span.trace }, () => handler(job, run))
            span.end({ attributes: { 'sluice.outcome': 'done' } })
            return result
          } catch (error) {
            const outcome = outcomeOf(error, { attempt: job.attempt, options, signal: run.signal })
            const hasFailed = outcome === 'retried' || outcome === 'failed'
            span.end({ attributes: { 'sluice.outcome': outcome }, ...(hasFailed ? { error } : {}) })
            throw error
          }
        },
        options,
      )
    },
  }
}

import { AsyncLocalStorage } from 'node:async_hooks'

/** What identifies work here and in other systems. It can be stored as JSON. */
export interface WorkContext {
  /** As in `X-Request-Id`. Absent for a job. */
  requestId?: string
  /** Names the current span. Absent when the work is not part of a trace. */
  trace?: TraceContext
}

/** The context of a request. */
export interface RequestContext extends WorkContext {
  requestId: string
}

/** Headers of a trace. @see https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  /** Valid: `00-`, the ID of the trace in 32 hexadecimal digits, that of the caller's span in 16, and flags in 2. */
  traceparent: string
  /** At most 512 printable characters of ASCII. */
  tracestate?: string
}

const current = new AsyncLocalStorage<WorkContext | undefined>()

/**
 * Runs work for a request or a job. What the work starts belongs to it too, after its end as well.
 *
 * @param context undefined for work of no request: it may have been started while one was handled
 */
export function inRequest<T>(context: WorkContext | undefined, work: () => T): T {
  return current.run(context, work)
}

/** The request or job to which the running code belongs; undefined when it belongs to none. */
export function currentRequest(): WorkContext | undefined {
  return current.getStore()
}

/** The current span, if it is recorded; undefined otherwise. */
export function sampledTrace(): TraceContext | undefined {
  const trace = current.getStore()?.trace
  return trace && isSampled(trace) ? trace : undefined
}

/** Whether the caller records the span that this names. */
function isSampled({ traceparent }: TraceContext): boolean {
  return (Number.parseInt(traceparent.slice(-2), 16) & 1) === 1
}

/** The ID of the trace, in 32 hexadecimal digits. */
export function traceIdOf({ traceparent }: TraceContext): string {
  return traceparent.slice(3, 35)
}

/** The fields by which lines of the log name a request or job. `traceId` is undefined without a trace. */
export function logFields({ requestId, trace }: WorkContext): {
  requestId: string | undefined
  traceId: string | undefined
} {
  return { requestId, traceId: trace && traceIdOf(trace) }
}

import { AsyncLocalStorage } from 'node:async_hooks'

/** What identifies a request here and in other systems. It can be stored as JSON. */
export interface RequestContext {
  /** As in `X-Request-Id`. */
  requestId: string
  /** Absent when the request is not part of a trace. */
  trace?: TraceContext
}

/** Headers of a trace. @see https://www.w3.org/TR/trace-context/ */
export interface TraceContext {
  /** Valid: `00-`, the ID of the trace in 32 hexadecimal digits, that of the caller's span in 16, and flags in 2. */
  traceparent: string
  /** At most 512 printable characters of ASCII. */
  tracestate?: string
}

const current = new AsyncLocalStorage<RequestContext | undefined>()

/**
 * Runs work for a request. What the work starts belongs to the request too, after its end as well.
 *
 * @param context undefined for work of no request: it may have been started while one was handled
 */
export function inRequest<T>(context: RequestContext | undefined, work: () => T): T {
  return current.run(context, work)
}

/** The request to which the running code belongs; undefined when it belongs to none. */
export function currentRequest(): RequestContext | undefined {
  return current.getStore()
}

/** The fields by which lines of the log name a request. `traceId` is undefined without a trace. */
export function logFields({ requestId, trace }: RequestContext): {
  requestId: string
  traceId: string | undefined
} {
  return { requestId, traceId: trace?.traceparent.slice(3, 35) }
}

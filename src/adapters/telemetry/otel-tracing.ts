import {
  createTraceState,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Span, SpanEnd, SpanOptions, Tracing } from '../../core/ports/telemetry/tracing.ts'
import { Problem } from '../../core/problem.ts'
import { currentRequest, inRequest, sampledTrace, type TraceContext } from '../../core/request-context.ts'
import { isFailure } from '../is-failure.ts'

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const

/**
 * Records spans with a tracer of OpenTelemetry. The current span is that of the request context, so that it also names requests to other
 * servers and lines of the log.
 */
export function otelTracing(tracer: Tracer): Tracing {
  const begin = (name: string, options: SpanOptions): Span => {
    const { kind = 'internal', parent, links = [], attributes = {}, startedAt } = options
    const span = tracer.startSpan(
      name,
      {
        kind: KINDS[kind],
        attributes,
        links: links.map((link): Link => ({ context: spanContextOf(link, { isRemote: true }) })),
        ...(startedAt === undefined ? {} : { startTime: startedAt }),
      },
      parent
        ? trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent, { isRemote: kind === 'server' }))
        : ROOT_CONTEXT,
    )
    let hasEnded = false
    return {
      trace: traceOf(span.spanContext(), parent),
      set: (more) => void span.setAttributes(more),
      end({ name: better, attributes: more, error, hasFailed = false }: SpanEnd = {}) {
        if (hasEnded) return
        hasEnded = true
        if (better !== undefined) span.updateName(better)
        if (more) span.setAttributes(more)
        if (hasFailed) span.setStatus({ code: SpanStatusCode.ERROR })
        if (error !== undefined) {
          if (error instanceof Problem) span.setAttribute('sluice.problem', error.code)
          if (isFailure(error)) {
            span.setAttribute('error.type', error instanceof Problem ? error.code : nameOf(error))
            span.setStatus({ code: SpanStatusCode.ERROR })
          }
        }
        // The export that this may start belongs to no request.
        // Without a time, a span with `startedAt` would end by the clock of the system, in whole milliseconds.
        inRequest(undefined, () => span.end(performance.now()))
      },
    }
  }
  return {
    begin,
    within(name, options, work) {
      const parent = sampledTrace()
      if (!parent) return work(undefined)
      const span = begin(name, { ...options, parent })
      const failed = (error: unknown) => span.end({ error })
      try {
        const result = inRequest({ ...currentRequest(), trace: span.trace }, () => work(span))
        if (result instanceof Promise)
          result.then(
            () => span.end(),
            (error) => failed(error),
          )
        else span.end()
        return result
      } catch (error) {
        failed(error)
        throw error
      }
    },
  }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error
}

function spanContextOf(
  { traceparent, tracestate }: TraceContext,
  { isRemote }: { isRemote: boolean },
): SpanContext {
  return {
    traceId: traceparent.slice(3, 35),
    spanId: traceparent.slice(36, 52),
    traceFlags: Number.parseInt(traceparent.slice(53, 55), 16),
    isRemote,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  }
}

function traceOf(
  { traceId, spanId, traceFlags }: SpanContext,
  parent: TraceContext | undefined,
): TraceContext {
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags & 1}`
  const { tracestate } = parent ?? {}
  return tracestate === undefined ? { traceparent } : { traceparent, tracestate }
}

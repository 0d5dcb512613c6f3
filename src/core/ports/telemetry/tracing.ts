import type { TraceContext } from '../../request-context.ts'

/** Records what a request or a job does, and how long it takes, as spans of traces. */
export interface Tracing {
  /** Begins a span. It is not the current one of the code that follows. End it once. */
  begin(name: string, options: SpanOptions): Span
  /**
   * Runs work in a span below the current one. Without a current one, or when that is not sampled, there is no span.
   * @returns what the work returns. The span of a promise ends when the promise settles
   */
  within<T>(
    name: string,
    options: Pick<SpanOptions, 'kind' | 'attributes'>,
    work: (span: Span | undefined) => T,
  ): T
}

export interface SpanOptions {
  /** Default: `internal`. */
  kind?: 'internal' | 'server' | 'client' | 'consumer'
  /** The span above, of this or another process. Absent: the span begins a trace. */
  parent?: TraceContext | undefined
  /** Spans of other traces that have caused this one. */
  links?: readonly TraceContext[]
  attributes?: SpanAttributes
  /** As `performance.now()`. Default: now. */
  startedAt?: number
}

export interface Span {
  /** Names the span to what happens in it, here and in other systems. Its flags state whether the span is sampled. */
  readonly trace: TraceContext
  set(attributes: SpanAttributes): void
  /** Only the first call has an effect. */
  end(how?: SpanEnd): void
}

export interface SpanEnd {
  /** A better name than that of the beginning. */
  name?: string
  attributes?: SpanAttributes
  /** Why the work has failed. A Problem below 500 and a client that has disconnected are no errors of the span. */
  error?: unknown
  /** Whether the span has failed, without an error. */
  hasFailed?: boolean
}

/** Names as in the semantic conventions of OpenTelemetry, or beginning with `sluice.`. Undefined values are left out. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | string[] | undefined>>

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { type DiagLogger, DiagLogLevel, diag, SpanKind, TraceFlags } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { defaultResource, type Resource, resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base'
import { throttled } from '../../core/async/throttle-log.ts'
import type { Log } from '../../core/log.ts'
import type { MetricsReader } from '../../core/ports/metrics.ts'
import type { Tracing } from '../../core/ports/telemetry/tracing.ts'
import { otelTracing } from './otel-tracing.ts'
import { prometheusBridge } from './prometheus-bridge.ts'

export interface OtelOptions {
  /** The target of traces, and the sampler that chooses them. Undefined: traces are not sent. */
  traces: (Target & { sampler: string; samplerRatio: number }) | undefined
  /** The target of metrics, and their source. Undefined: metrics are not sent. */
  metrics: (Target & { reader: Pick<MetricsReader, 'parts'>; everyMs: number }) | undefined
  serviceName: string
  /** The version of Sluice. */
  version: string
  /** Resource attributes. They override those that this adapter sets. */
  attributes: Readonly<Record<string, string>>
  log: Log
}

interface Target {
  /** The complete URL, for OTLP over HTTP. */
  url: string
  headers: Readonly<Record<string, string>>
}

export interface Otel {
  /** Undefined without `traces`. */
  tracing: Tracing | undefined
  /** Begins to send the metrics for the last time. Call it while everything that they read is still open. */
  endMetrics(): void
  /** Sends what has not been sent yet, for half a second at most. */
  close(): Promise<void>
}

/** The longest time of {@link Otel.close}, in milliseconds: a collector that does not respond must not delay the end of the process. */
export const CLOSE_MS = 500

// The path of a request, for example, can be as long as its head.
const MAX_ATTRIBUTE_LENGTH = 1024

/**
 * Starts the export by OTLP over HTTP in protobuf. While the collector cannot be reached, at most 2048 spans are queued, and one
 * warning a minute is logged.
 */
export function openOtel(options: OtelOptions): Otel {
  const { traces, metrics, serviceName, version, attributes, log } = options
  warnOfFailures(log)
  const resource = defaultResource().merge(
    resourceFromAttributes({
      'service.name': serviceName,
      'service.version': version,
      'service.instance.id': randomUUID(),
      'host.name': hostname(),
      'process.pid': process.pid,
      ...attributes,
    }),
  )
  const tracers = traces && tracerProvider(traces, resource)
  const meters = metrics && meterProvider(metrics, { resource, version })
  let metricsSent: Promise<void> | undefined
  const endMetrics = () => {
    metricsSent ??= meters?.shutdown()
    return metricsSent
  }
  return {
    tracing: tracers && otelTracing(tracers.getTracer('sluice', version)),
    endMetrics: () => void endMetrics()?.catch(() => {}),
    async close() {
      const sent = Promise.allSettled([endMetrics(), tracers?.shutdown()])
      const over = new AbortController()
      await Promise.race([sent, pause(CLOSE_MS, undefined, { signal: over.signal }).catch(() => {})])
      over.abort()
      diag.disable()
    },
  }
}

function tracerProvider(
  { url, headers, sampler, samplerRatio }: NonNullable<OtelOptions['traces']>,
  resource: Resource,
): BasicTracerProvider {
  const exporter = new OTLPTraceExporter({ url, headers: { ...headers } })
  return new BasicTracerProvider({
    resource,
    sampler: withLinkedJobs(samplerOf(sampler, samplerRatio)),
    spanLimits: { attributeValueLengthLimit: MAX_ATTRIBUTE_LENGTH },
    spanProcessors: [new BatchSpanProcessor(exporter)],
  })
}

function samplerOf(name: string, ratio: number): Sampler {
  const prefix = 'parentbased_'
  if (name.startsWith(prefix))
    return new ParentBasedSampler({ root: samplerOf(name.slice(prefix.length), ratio) })
  if (name === 'always_off') return new AlwaysOffSampler()
  return name === 'traceidratio' ? new TraceIdRatioBasedSampler(ratio) : new AlwaysOnSampler()
}

/** Also records each job that a recorded request has added. Without it, one of both ends of the link would mostly be missing. */
function withLinkedJobs(sampler: Sampler): Sampler {
  return {
    shouldSample(...args) {
      const [, , , kind, , links] = args
      const isLinked = links.some(({ context }) => (context.traceFlags & TraceFlags.SAMPLED) !== 0)
      return kind === SpanKind.CONSUMER && isLinked
        ? { decision: SamplingDecision.RECORD_AND_SAMPLED }
        : sampler.shouldSample(...args)
    },
    toString: () => `linked jobs, otherwise ${sampler}`,
  }
}

function meterProvider(
  { url, headers, reader, everyMs }: NonNullable<OtelOptions['metrics']>,
  { resource, version }: { resource: Resource; version: string },
): MeterProvider {
  return new MeterProvider({
    resource,
    readers: [
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url, headers: { ...headers } }),
        exportIntervalMillis: everyMs,
        exportTimeoutMillis: Math.min(everyMs, 30_000),
        metricProducers: [prometheusBridge(reader, { name: 'sluice', version })],
      }),
    ],
  })
}

/** The packages report failed exports to a logger of the whole process. */
function warnOfFailures(log: Log): void {
  const warn = throttled(({ cause }) =>
    log.warn({ reason: String(cause) }, 'OpenTelemetry data is not exported; the service continues'),
  )
  const failed: DiagLogger['warn'] = (message) =>
    // One text for all failures: traces and metrics fail in turns.
    warn(new Error('not exported', { cause: messageOf(message) }))
  const ignore = () => {}
  const logger = { error: failed, warn: failed, info: ignore, debug: ignore, verbose: ignore }
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
}

/** The packages report an error as JSON with its stack. */
function messageOf(text: string): string {
  try {
    const { message, name } = JSON.parse(text)
    return message || name || text
  } catch {
    return text
  }
}

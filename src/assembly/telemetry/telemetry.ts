import type { Config } from '../../../config/load.ts'
import { telemetrySettings } from '../../../config/telemetry.ts'
import { measuredStorage } from '../../adapters/metrics/measured-storage.ts'
import { prometheusMetrics } from '../../adapters/metrics/prometheus.ts'
import { tracedStorage } from '../../adapters/telemetry/traced-storage.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics, MetricsReader } from '../../core/ports/metrics.ts'
import type { Tracing } from '../../core/ports/telemetry/tracing.ts'
import { version } from '../../process/version.ts'
import type { Storage } from '../services.ts'

/** What observes a process. */
export interface Telemetry {
  /** Undefined when metrics are neither served nor exported. */
  metrics: (Metrics & MetricsReader) | undefined
  /** Undefined when traces are not exported. */
  tracing: Tracing | undefined
  /** Wraps the storage, whose calls are measured and traced. */
  wrapStorage(storage: Storage): Storage
  /** Begins to send the metrics for the last time. Call it while everything that they read is still open. */
  endMetrics(): void
  /** Sends what has not been sent yet, for half a second at most. */
  close(): Promise<void>
  /** The longest time of `close`, in milliseconds. 0 when nothing is exported. */
  closeMs: number
}

/**
 * Opens the metrics and, if the configuration has a collector, the export to it. Its packages are loaded only then.
 *
 * @param options.isServed whether the metrics can be read from this process
 */
export async function openTelemetry({
  config,
  isServed,
  role,
  log,
}: {
  config: Config
  isServed: boolean
  role: 'web' | 'worker'
  log: Log
}): Promise<Telemetry> {
  const settings = telemetrySettings(config)
  const metrics = isServed || settings?.metrics ? prometheusMetrics({ version: version() }) : undefined
  const adapter = settings && (await import('../../adapters/telemetry/otel.ts'))
  const otel =
    settings &&
    adapter?.openOtel({
      ...settings,
      traces: settings.traces && { ...settings, ...settings.traces },
      metrics: settings.metrics &&
        metrics && { ...settings.metrics, reader: metrics, everyMs: settings.metricsEveryMs },
      version: version(),
      attributes: { 'sluice.role': role, ...settings.resourceAttributes },
      log,
    })
  const tracing = otel?.tracing
  return {
    metrics,
    tracing,
    wrapStorage(storage) {
      const measured = metrics ? measuredStorage(storage, metrics) : storage
      return tracing ? tracedStorage(measured, tracing) : measured
    },
    endMetrics: () => otel?.endMetrics(),
    close: async () => otel?.close(),
    closeMs: adapter?.CLOSE_MS ?? 0,
  }
}

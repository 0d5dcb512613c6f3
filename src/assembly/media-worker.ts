import { noMetrics } from '../adapters/metrics/none.ts'
import type { MetricsReader } from '../core/ports/metrics.ts'
import { claimStorage, startComparing } from './maintenance.ts'
import { type LoadOptions, loadEverything } from './plugins.ts'
import { openServices, type ServicesOptions } from './services.ts'
import { openTelemetry } from './telemetry/telemetry.ts'
import { openTransformations } from './transforms.ts'

/** A process that runs media jobs for the web processes. */
export interface MediaWorker {
  /** The metrics as text; undefined without METRICS_PORT. */
  readMetrics: MetricsReader['text'] | undefined
  /** Puts the running jobs back and closes everything. */
  close(): Promise<void>
}

// An aborted job needs this time to end ffmpeg, remove its files and drop its entry.
const GRACE_MS = 1_500

/**
 * Starts to run media jobs, in addition to any number of web processes and other workers.
 *
 * @throws Error without `REDIS_URL`, or when ffmpeg is not installed; PluginError for a broken plugin
 */
export async function openMediaWorker(
  options: Pick<LoadOptions, 'config' | 'root'> & Pick<ServicesOptions, 'baseUrl' | 'log'>,
): Promise<MediaWorker> {
  const { config, log } = options
  if (!config.REDIS_URL)
    throw new Error(
      'REDIS_URL: expected the Redis of the web processes. Without Redis, the web process runs media jobs itself',
    )
  const loaded = await loadEverything(options)
  await loaded.ffmpeg.ensureInstalled()
  const isServed = config.METRICS_PORT !== undefined
  const telemetry = await openTelemetry({ config, isServed, role: 'worker', log })
  const { metrics = noMetrics, tracing, wrapStorage } = telemetry
  const services = await openServices({
    ...options,
    plugins: loaded.plugins,
    metrics: telemetry.metrics,
    tracing,
    wrapStorage,
  })
  await loaded.ffmpeg.start(log)
  await loaded.office.start(log)
  const { derivations, media, recompression, pool } = openTransformations(services, {
    ...options,
    loaded,
    metrics,
  })
  await claimStorage(services.backends, { config, log })
  media.work()
  recompression?.work()
  const clientUpdates = services.followClients()
  const comparing = startComparing(services, { log, metrics })
  return {
    readMetrics: isServed ? telemetry.metrics?.text : undefined,
    async close() {
      telemetry.endMetrics()
      await clientUpdates?.stop()
      await comparing.stop()
      services.backends.jobs.pause()
      media.stop()
      recompression?.stop()
      await derivations.idle()
      await pool.close()
      await services.close({ graceMs: GRACE_MS })
      await telemetry.close()
    },
  }
}

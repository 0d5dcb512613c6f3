import type { RequestListener, Server } from 'node:http'
import type { Credentials } from './adapters/credentials.ts'
import { noMetrics } from './adapters/metrics/none.ts'
import { openArchives } from './assembly/archives.ts'
import { openFileManagement } from './assembly/file-management.ts'
import { firstCredentials } from './assembly/first-client.ts'
import { claimStorage, startMaintenance } from './assembly/maintenance.ts'
import { openOperations, readinessChecks } from './assembly/operations.ts'
import { type Loaded, type LoadOptions, loadEverything } from './assembly/plugins.ts'
import { openRemotes } from './assembly/remote-files.ts'
import { openServices, type Services, type ServicesOptions } from './assembly/services.ts'
import { httpSettings, isWatched, secretsOf } from './assembly/settings.ts'
import { openForeign } from './assembly/sources/foreign.ts'
import { operatorCommands } from './assembly/sources/imports.ts'
import { openTelemetry, type Telemetry } from './assembly/telemetry/telemetry.ts'
import { isLeftToWorkers, openTransformations } from './assembly/transforms.ts'
import { FIRST_CLIENT_ID } from './core/clients/client.ts'
import type { Commands } from './core/command.ts'
import type { Log } from './core/log.ts'
import { describeParameters } from './core/plugin-api/describe-parameters.ts'
import type { MetricsReader } from './core/ports/metrics.ts'
import { archiveInspector } from './engines/archive/zip-entries.ts'
import { textInspector } from './engines/image/documents/text.ts'
import { imageInspector } from './engines/image/inspector.ts'
import { handleParseErrors } from './http/connection/malformed-requests.ts'
import type { HttpOptions } from './http/http-options.ts'
import { createHttp } from './http/server.ts'
import { controlPath, openControl } from './process/control.ts'
import type { Clients } from './service/clients/clients.ts'
import { createEagerTransforms } from './service/delivery/eager-transforms.ts'
import { createFileInfos } from './service/delivery/file-info.ts'
import type { Sweep } from './service/maintenance/sweep.ts'

export { DataDirError } from './adapters/disk/data-dir.ts'
export { aggregateMetrics, lastingMetrics } from './adapters/metrics/aggregate.ts'
export { examine } from './assembly/doctor/doctor.ts'
export { credentialsFile } from './assembly/first-client.ts'
export { openMediaWorker } from './assembly/media-worker.ts'
export { backupCommands, openOperator } from './assembly/operator.ts'
export { loadEverything } from './assembly/plugins.ts'
export type { Storage } from './assembly/services.ts'

export interface AppOptions
  extends LoadOptions,
    Pick<HttpOptions, 'messages'>,
    Pick<ServicesOptions, 'wrapStorage' | 'clientCacheTtlMs' | 'passwordCost'> {
  /** The URL of this process for clients, without a trailing slash. */
  baseUrl: string
  log: Log
  /** Whether the process is shutting down: then it is not ready. */
  isStopping?: () => boolean
  /**
   * Set when this is one of several processes. Takes the reader of
   * this process's metrics, and returns a reader for all processes.
   */
  shareMetrics?: (parts: MetricsReader['parts']) => MetricsReader['text']
}

/** A running service, without a listening socket. */
export interface App {
  handle: RequestListener
  /** Makes a server respond in the service's format to requests that cannot be parsed. */
  handleParseErrors(server: Server): void
  clients: Clients
  /** The commands of an operator. */
  commands: Commands
  /** The tokens of the first client. */
  credentials: Credentials
  sweep: Sweep
  /** A link that creates the first owner; undefined when it is not needed. */
  firstVisit(): string | undefined
  /** The metrics as text, of all processes when they share. Undefined when metrics are off. */
  readMetrics: MetricsReader['text'] | undefined
  /** Lets work in progress end, then closes everything. */
  close(): Promise<void>
}

// A part of the two seconds for a graceful shutdown after the last request. Jobs that do not end in this time run again later.
const JOBS_GRACE_MS = 1_500

/**
 * Builds the service on the services of `assembly/services.ts`.
 *
 * @throws DataDirError when the data folder cannot be used or another process holds it; PluginError for a broken plugin
 */
export async function createApp(options: AppOptions): Promise<App> {
  const loaded = await loadEverything(options)
  const { config, log } = options
  const telemetry = await openTelemetry({ config, isServed: isWatched(config), role: 'web', log })
  const services = await openServices({
    ...options,
    plugins: loaded.plugins,
    metrics: telemetry.metrics,
    tracing: telemetry.tracing,
    wrapStorage: (storage) => telemetry.wrapStorage(options.wrapStorage?.(storage) ?? storage),
  })
  try {
    return await openApp(services, { ...options, loaded, telemetry })
  } catch (error) {
    await services.close({ graceMs: 0 })
    await telemetry.close()
    throw error
  }
}

type OpenAppOptions = AppOptions & { loaded: Loaded; telemetry: Telemetry }

async function openApp(
  services: Services,
  { config, baseUrl, log, loaded, telemetry, messages, ...options }: OpenAppOptions,
): Promise<App> {
  const {
    backends,
    buckets,
    clients,
    managedClients,
    members,
    keys,
    findClient,
    presentClient,
    originals,
    removals,
    removeDerivatives,
    usage,
    sweep,
    upload,
    repeatedRequests,
    signedLinks,
    webhooks,
    resumables,
  } = services
  const commands = operatorCommands(services, { config, baseUrl })
  const { chain, ffmpeg, plugins } = loaded
  const { metrics = noMetrics, tracing } = telemetry
  const prometheus = isWatched(config) ? telemetry.metrics : undefined
  const readMetrics = prometheus && (options.shareMetrics?.(prometheus.parts) ?? prometheus.text)
  const known = findClient(FIRST_CLIENT_ID)
  const credentials = await firstCredentials({ config, known, recovery: services.recovery, log })
  await claimStorage(backends, { config, log })
  await clients.ensureFirst(credentials)
  services.delivery.work()
  services.scanning.work()
  await ffmpeg.start(log)

  const transformations = openTransformations(services, { config, baseUrl, log, loaded, metrics })
  const { admit, derivations, jobs, plan, media, recompression, deliveries, findLateTruncation, pool } =
    transformations
  if (!isLeftToWorkers(config)) for (const work of [media, recompression]) work?.work()
  const informations = createFileInfos({
    originals,
    scans: services.scans,
    derivations,
    buckets,
    plan,
    inspector: imageInspector,
    ...{ archives: archiveInspector, texts: textInspector },
    findLateTruncation,
    log,
  })
  const eager = createEagerTransforms({
    deliveries,
    derivations,
    jobs,
    presentClient,
    isBusy: () => admit.load().waiting > 0,
    log,
  })
  eager.work()
  const checks = readinessChecks(services, { loaded, isStopping: options.isStopping, metrics })
  const remotes = openRemotes(services, { config, log, loaded, transformations })
  const handle = createHttp({
    messages,
    clients,
    managedClients,
    ...members.http,
    secrets: secretsOf(config, credentials),
    deliveries,
    informations,
    eager,
    media,
    removals,
    removeDerivatives,
    ...openFileManagement(services, { baseUrl }),
    cursorKey: keys('list cursors'),
    usage,
    upload,
    ...remotes,
    ...openForeign(services, { config, log, loaded, transformations }),
    tus: {
      resumables,
      handover: backends.handover,
      maxBytes: services.streamedMaxBytes,
      expireMs: config.RESUMABLE_UPLOAD_TTL_SECONDS * 1000,
      sends104: config.SEND_104 === '1',
    },
    signedLinks,
    directUploads: services.directUploads,
    repeatedRequests,
    webhooks,
    findClient,
    ...openArchives(services, { deliveries, log }),
    limits: backends.limits,
    checks,
    baseUrl,
    ...httpSettings(config),
    hot: { maxBytes: config.HOT_CACHE_BYTES, changes: services.fileChanges },
    ignoredParams: chain.ignoredParams,
    parameters: describeParameters(plugins.transforms),
    ...openOperations(services, { config, loaded, transformations }),
    log,
    metrics,
    tracing,
    metricsAccess:
      readMetrics && config.METRICS_TOKEN ? { token: config.METRICS_TOKEN, read: readMetrics } : undefined,
  })

  // Only this process can open the embedded index, so commands are sent to it.
  const control = config.REDIS_URL
    ? undefined
    : await openControl({ path: controlPath(config.DATA_DIR), commands, log })
  const clientUpdates = services.followClients()
  const maintenance = await startMaintenance(services, { log, metrics })
  return {
    handle,
    handleParseErrors: (server) =>
      handleParseErrors(server, { maxHeaderBytes: config.HEADERS_MAX_BYTES, log, metrics }),
    clients,
    commands,
    credentials,
    sweep,
    firstVisit: members.firstVisit,
    readMetrics,
    async close() {
      telemetry.endMetrics()
      await control?.close()
      await clientUpdates?.stop()
      await services.storing.stop()
      await maintenance.stop()
      backends.jobs.pause()
      eager.stop()
      media.stop()
      recompression?.stop()
      await derivations.idle()
      await remotes.remotePictures.idle()
      await pool.close()
      await services.close({ graceMs: JOBS_GRACE_MS - telemetry.closeMs })
      await telemetry.close()
    },
  }
}

import type { RequestListener, Server } from 'node:http'
import { availableParallelism } from 'node:os'
import { extname, join } from 'node:path'
import type { Config } from '../config/load.ts'
import { type Credentials, loadCredentials } from './adapters/credentials.ts'
import { measuredStorage } from './adapters/metrics/measured-storage.ts'
import { noMetrics } from './adapters/metrics/none.ts'
import { prometheusMetrics } from './adapters/metrics/prometheus.ts'
import type { Commands } from './core/command.ts'
import { describeParameters } from './core/described.ts'
import type { Log } from './core/log.ts'
import type { TransformLimits } from './core/plugin.ts'
import type { MetricsReader } from './core/ports/metrics.ts'
import { imageInspector } from './engines/image-inspector.ts'
import { every, type Foundation, type FoundationOptions, openFoundation } from './foundation.ts'
import { createHttp } from './http/server.ts'
import { refuseUnreadable } from './http/unreadable.ts'
import { type Loaded, type LoadOptions, loadEverything } from './loaded.ts'
import { createAdmission } from './pipeline/admission.ts'
import { createRunnerApart } from './pipeline/apart.ts'
import { createDispatcher } from './pipeline/dispatch.ts'
import { informedRunner } from './pipeline/information.ts'
import { measuredRunner } from './pipeline/measured.ts'
import { createPlanner } from './pipeline/plan.ts'
import { createRunner } from './pipeline/run.ts'
import { createPool } from './process/apart/pool.ts'
import { controlPath, openControl } from './process/control.ts'
import { createArchive } from './service/archive.ts'
import { createAssets } from './service/assets.ts'
import type { Clients } from './service/clients.ts'
import { createDeliveries } from './service/deliver.ts'
import { createDerivations } from './service/derive.ts'
import { createEagerTransforms } from './service/eager.ts'
import { createInformations } from './service/information.ts'
import type { Sweep } from './service/sweep.ts'
import { createUpload } from './service/upload.ts'
import type { TransformerSetup } from './transformer.ts'

export { DataDirError } from './adapters/data-dir.ts'
export { aggregateMetrics } from './adapters/metrics/prometheus.ts'
export type { Storage } from './foundation.ts'
export { loadEverything } from './loaded.ts'

export interface AppOptions extends LoadOptions {
  /** Where clients reach this process; without a slash at its end. */
  baseUrl: string
  log: Log
  /** See {@link FoundationOptions}. */
  wrapStorage?: FoundationOptions['wrapStorage']
  /** Where this is one of several processes: makes, of what this one has measured, what all have. */
  shareMetrics?: (parts: MetricsReader['parts']) => MetricsReader['text']
}

/** A running service without a socket. */
export interface App {
  handle: RequestListener
  /** Has a server answer as the service does also what it cannot read as a request. */
  refuseUnreadable(server: Server): void
  clients: Clients
  /** What an operator may ask for. */
  commands: Commands
  /** The first client's tokens. */
  credentials: Credentials
  sweep: Sweep
  /** What has been measured, where it can be read: by all processes when they share. */
  readMetrics: MetricsReader['text'] | undefined
  /** Lets work in progress end, then gives the data folder back. */
  close(): Promise<void>
}

/** What one request may cost: by default 40 MB of file, 50 MP x 4 bytes = 200 MB of pixels, half a minute of a core. */
function limitsOf(config: Config): TransformLimits {
  const { IMAGE_MAX_BYTES, VIDEO_MAX_BYTES, IMAGE_MAX_PIXELS, TRANSFORM_TIMEOUT_SECONDS } = config
  return {
    sourceMaxBytes: IMAGE_MAX_BYTES,
    videoMaxBytes: VIDEO_MAX_BYTES,
    sourceMaxPixels: IMAGE_MAX_PIXELS,
    outputMaxSide: 5000,
    // Two frames of the largest sides: a small animation in a large box is as costly as a large one.
    outputMaxPixels: 50_000_000,
    timeoutMs: TRANSFORM_TIMEOUT_SECONDS * 1000,
  }
}

// All transformations in this process together: it stays below 400 MB, with what glibc keeps of the ones before. What takes
// more has a process of its own, so that no thread of this one is busy for longer than 10 s either: 7 MP as GIF.
const HERE_BYTES = 100_000_000
const TRANSFORMER = join(import.meta.dirname, `transformer${extname(import.meta.filename)}`)
// At half a second each, the last of them waits a minute for two cores.
const WAITING_TRANSFORMS = 256
// Of the four that libuv has by itself.
const THREADS_FOR_FILES = 2
const SWEEP_EVERY_MS = 60_000
const SWEEP_PUTS_EVERY_MS = 3_600_000
// Of the two seconds that an orderly end may take once the requests have ended; what is left runs again later.
const JOBS_GRACE_MS = 1_500

/**
 * Puts the service together, on what `foundation.ts` opens.
 *
 * @throws DataDirError when the data folder cannot be used or another process holds it, PluginError for a broken plugin
 */
export async function createApp(options: AppOptions): Promise<App> {
  const loaded = await loadEverything(options)
  const { config } = options
  const prometheus = isWatched(config) ? prometheusMetrics() : undefined
  const foundation = await openFoundation({
    ...options,
    plugins: loaded.plugins,
    wrapStorage(storage) {
      const wrapped = options.wrapStorage?.(storage) ?? storage
      return prometheus ? measuredStorage(wrapped, prometheus) : wrapped
    },
  })
  try {
    return await openApp(foundation, { ...options, ...loaded, prometheus })
  } catch (error) {
    await foundation.close({ graceMs: 0 })
    throw error
  }
}

type OpenAppOptions = Omit<AppOptions, 'engines'> &
  Loaded & { prometheus: ReturnType<typeof prometheusMetrics> | undefined }

async function openApp(
  foundation: Foundation,
  {
    config,
    baseUrl,
    log,
    chain,
    engines,
    ffmpeg,
    ownEngines,
    folders,
    plugins,
    presets,
    prometheus,
    shareMetrics,
  }: OpenAppOptions,
): Promise<App> {
  const {
    backends,
    buckets,
    index,
    events,
    clients,
    findClient,
    originals,
    removals,
    sweep,
    sweepPuts,
    commands,
  } = foundation
  const metrics = prometheus ?? noMetrics
  const readMetrics = prometheus && (shareMetrics?.(prometheus.parts) ?? prometheus.text)
  const credentials = await firstCredentials(config, foundation.credentialsFile)
  await clients.ensureFirst(credentials)
  foundation.delivery.work()

  await ffmpeg.start(log)

  const atOnce = transformsAtOnce(config)
  const maxMemoryBytes = config.TRANSFORM_MAX_MEMORY_BYTES
  const admit = createAdmission({
    ...{ atOnce, waiting: WAITING_TRANSFORMS },
    ...{ heavyFrom: HERE_BYTES, heavyBytes: maxMemoryBytes },
  })
  metrics.watchTransforms(admit.load)
  const here = measuredRunner(informedRunner(createRunner(engines), imageInspector), metrics)
  const setup: TransformerSetup = { folders, chain, maxMemoryBytes }
  const pool = createPool({ script: TRANSFORMER, setup, most: atOnce, maxMemoryBytes, log })
  const run = createDispatcher({
    ...{ engines, admit, here },
    // Those processes have the engines that Sluice comes with.
    elsewhere: ownEngines ? measuredRunner(createRunnerApart(pool), metrics) : here,
    room: { bytes: HERE_BYTES, atOnce: threadsForTransforms(config) },
    hangMs: config.TRANSFORM_HANG_SECONDS * 1000,
    metrics,
  })
  const derivations = createDerivations({
    index,
    buckets,
    assets: createAssets({ originals, buckets }),
    locks: backends.locks,
    events,
    run,
    limits: limitsOf(config),
    variantLimit: config.VARIANT_LIMIT,
    log,
  })
  const plan = createPlanner(plugins.transforms, chain.ignoredParams, {
    presets,
    ...(plugins.detector ? { detector: plugins.detector } : {}),
  })
  const deliveries = createDeliveries({
    ...{ originals, derivations, buckets, plan, metrics },
    onLimit: chain.onLimit,
  })
  const informations = createInformations({
    originals,
    derivations,
    buckets,
    plan,
    inspector: imageInspector,
    log,
  })
  const eager = createEagerTransforms({
    deliveries,
    derivations,
    jobs: backends.jobs,
    findClient,
    isBusy: () => admit.load().waiting > 0,
    log,
  })
  eager.work()
  const handle = createHttp({
    clients,
    secrets: [credentials.secretClientToken, ...(config.METRICS_TOKEN ? [config.METRICS_TOKEN] : [])],
    deliveries,
    informations,
    eager,
    removals,
    upload: createUpload({
      index,
      buckets,
      events,
      removals,
      admits: clients.admits,
      maxBytes: config.UPLOAD_MAX_BYTES,
    }),
    archive: createArchive({ deliveries, events, log }),
    zipLimiter: backends.zipLimiter,
    checks: { bucket: () => buckets.ping(), index: () => index.ping(), ffmpeg: () => ffmpeg.isMissing() },
    baseUrl,
    fullContentRange: config.FULL_CONTENT_RANGE,
    maxFiles: config.UPLOAD_MAX_FILES,
    minBytesPerSecond: config.BODY_MIN_BYTES_PER_SECOND,
    ignoredParams: chain.ignoredParams,
    parameters: describeParameters(plugins.transforms),
    log,
    metrics,
    metricsAccess:
      readMetrics && config.METRICS_TOKEN ? { token: config.METRICS_TOKEN, read: readMetrics } : undefined,
  })

  // The embedded index is this process's alone: who wants to know of it has to ask here.
  const control = config.REDIS_URL
    ? undefined
    : await openControl({ path: controlPath(config.DATA_DIR), commands, log })
  const following = foundation.followClients()
  const tried = (work: () => Promise<number>) => () =>
    work().catch((error) => log.error({ err: error }, 'a sweep failed; the next one tries again'))
  const sweeping = every(SWEEP_EVERY_MS, tried(sweep))
  const sweepingPuts = every(SWEEP_PUTS_EVERY_MS, tried(sweepPuts))
  return {
    handle,
    refuseUnreadable: (server) =>
      refuseUnreadable(server, { maxHeaderBytes: config.HEADERS_MAX_BYTES, log, metrics }),
    clients,
    commands,
    credentials,
    sweep,
    readMetrics,
    async close() {
      await control?.close()
      await following?.stop()
      await sweeping.stop()
      await sweepingPuts.stop()
      backends.jobs.pause()
      eager.stop()
      await derivations.idle()
      await pool.close()
      await foundation.close({ graceMs: JOBS_GRACE_MS })
    },
  }
}

/** What an operator may ask for, without a service around it. */
export interface Operator {
  commands: Commands
  close(): Promise<void>
}

/**
 * Opens files and their states for an operator's command: beside running services on Redis, else when none runs.
 *
 * @throws DataDirError when another process holds the data folder, PluginError for a broken plugin
 */
export async function openOperator(options: Omit<AppOptions, 'wrapStorage'>): Promise<Operator> {
  const { plugins } = await loadEverything(options)
  const { commands, close } = await openFoundation({ ...options, plugins })
  return { commands, close: () => close({ graceMs: 0 }) }
}

/** Whether there is a way to read what would be measured. */
function isWatched({ METRICS_TOKEN, METRICS_PORT }: Config): boolean {
  return METRICS_TOKEN !== undefined || METRICS_PORT !== undefined
}

/**
 * As many as there are cores, which are shared with the other web processes of this machine, and one more where a thread is
 * left for it: between the end of one and the beginning of the next a core would stand still, 6 % of the time. In another
 * process that one would cost more than it brings.
 */
function transformsAtOnce(config: Config): number {
  const cores = Math.max(1, Math.floor(availableParallelism() / config.WEB_CONCURRENCY))
  return threadsForTransforms(config) > cores ? cores + 1 : cores
}

/** In this process: some threads of libuv's pool are left to files, or none would be served while all transform. */
function threadsForTransforms({ UV_THREADPOOL_SIZE }: Config): number {
  return Math.max(1, UV_THREADPOOL_SIZE - THREADS_FOR_FILES)
}

async function firstCredentials(config: Config, file: string): Promise<Credentials> {
  const { CLIENT_TOKEN: clientToken, SECRET_CLIENT_TOKEN: secretClientToken } = config
  if (clientToken && secretClientToken) return { clientToken, secretClientToken }
  return loadCredentials(file)
}

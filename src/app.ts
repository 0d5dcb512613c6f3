import type { RequestListener, Server } from 'node:http'
import type { Config } from '../config/load.ts'
import { type Credentials, loadCredentials } from './adapters/credentials.ts'
import { guardedFetcher } from './adapters/fetcher/guarded.ts'
import { measuredStorage } from './adapters/metrics/measured-storage.ts'
import { noMetrics } from './adapters/metrics/none.ts'
import { prometheusMetrics } from './adapters/metrics/prometheus.ts'
import type { Commands } from './core/command.ts'
import { describeParameters } from './core/described.ts'
import type { Log } from './core/log.ts'
import type { FetchAccess } from './core/ports/fetcher.ts'
import type { MetricsReader } from './core/ports/metrics.ts'
import { imageInspector } from './engines/image-inspector.ts'
import { every, type Foundation, type FoundationOptions, openFoundation } from './foundation.ts'
import { createHttp } from './http/server.ts'
import { refuseUnreadable } from './http/unreadable.ts'
import { type Loaded, type LoadOptions, loadEverything } from './loaded.ts'
import { controlPath, openControl } from './process/control.ts'
import { createAdminSessions } from './service/admin-sessions.ts'
import { createAnnotate } from './service/annotate.ts'
import { createArchive } from './service/archive.ts'
import type { Clients } from './service/clients.ts'
import { createDescribe } from './service/describe.ts'
import { createEagerTransforms } from './service/eager.ts'
import { createInformations } from './service/information.ts'
import { createKeptRemotes } from './service/kept-remotes.ts'
import { createList } from './service/list.ts'
import { createManyFiles } from './service/many-files.ts'
import { createRemotes } from './service/remote.ts'
import { createRemotePictures } from './service/remote-pictures.ts'
import { createRemoteUpload } from './service/remote-upload.ts'
import type { Sweep } from './service/sweep.ts'
import { isLeftToWorkers, openTransformations } from './transformations.ts'

export { DataDirError } from './adapters/data-dir.ts'
export { aggregateMetrics } from './adapters/metrics/prometheus.ts'
export type { Storage } from './foundation.ts'
export { loadEverything } from './loaded.ts'
export { openMediaWorker } from './media-worker.ts'

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
    return await openApp(foundation, { ...options, loaded, prometheus })
  } catch (error) {
    await foundation.close({ graceMs: 0 })
    throw error
  }
}

type OpenAppOptions = AppOptions & {
  loaded: Loaded
  prometheus: ReturnType<typeof prometheusMetrics> | undefined
}

async function openApp(
  foundation: Foundation,
  { config, baseUrl, log, loaded, prometheus, shareMetrics }: OpenAppOptions,
): Promise<App> {
  const {
    backends,
    buckets,
    index,
    events,
    clients,
    managedClients,
    keys,
    findClient,
    presentClient,
    originals,
    complete,
    records,
    removals,
    trash,
    usage,
    sweep,
    sweepPuts,
    upload,
    signedLinks,
    resumables,
    sweepResumables,
    commands,
  } = foundation
  const { chain, ffmpeg, plugins } = loaded
  const metrics = prometheus ?? noMetrics
  const readMetrics = prometheus && (shareMetrics?.(prometheus.parts) ?? prometheus.text)
  const credentials = await firstCredentials(config, foundation.credentialsFile)
  await clients.ensureFirst(credentials)
  foundation.delivery.work()

  await ffmpeg.start(log)

  const { admit, assets, derivations, limits, plan, media, deliveries, pool, run } = openTransformations(
    foundation,
    { config, baseUrl, log, loaded, metrics },
  )
  if (!isLeftToWorkers(config)) media.work()
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
    presentClient,
    isBusy: () => admit.load().waiting > 0,
    log,
  })
  eager.work()
  const remotes = createRemotes({ fetcher: guardedFetcher({ access: fetchAccess(config) }) })
  const storeTimeoutMs = config.FETCH_STORE_TIMEOUT_SECONDS * 1000
  const remoteUpload = createRemoteUpload({
    ...{ remotes, upload, timeoutMs: storeTimeoutMs, maxBytes: config.UPLOAD_MAX_BYTES },
  })
  const remotePictures = createRemotePictures({
    ...{ remotes, spool: loaded.spool, plan, assets, run, limits, log },
    timeoutMs: config.FETCH_TIMEOUT_SECONDS * 1000,
    onLimit: chain.onLimit,
  })
  const list = createList({ index, buckets })
  const handle = createHttp({
    clients,
    managedClients,
    adminSessions: createAdminSessions({ password: config.ADMIN_PASSWORD, key: keys('admin session') }),
    secrets: [
      credentials.secretClientToken,
      ...[config.METRICS_TOKEN, config.ADMIN_PASSWORD].filter((secret) => secret !== undefined),
    ],
    deliveries,
    informations,
    eager,
    media,
    removals,
    list,
    cursorKey: keys('list cursors'),
    usage,
    many: createManyFiles({ list, removals, trash }),
    describe: createDescribe({ index, buckets, originals }),
    annotate: createAnnotate({ originals, records }),
    upload,
    remoteUpload,
    keptRemotes: createKeptRemotes({
      ...{ remotes, remoteUpload, originals, buckets, locks: backends.locks, timeoutMs: storeTimeoutMs },
    }),
    remotePictures,
    tus: {
      resumables,
      handover: backends.handover,
      maxBytes: config.UPLOAD_MAX_BYTES,
      expireMs: config.TUS_EXPIRE_SECONDS * 1000,
    },
    signedLinks,
    findClient,
    archive: createArchive({ deliveries, events, log }),
    limits: backends.limits,
    trustProxy: config.TRUST_PROXY,
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
  const closing = new AbortController()
  const completing = every(SWEEP_EVERY_MS, () =>
    complete(closing.signal).catch((error) => {
      if (!closing.signal.aborted)
        log.warn({ err: error }, 'not all files are listed yet; the next try goes on')
    }),
  )
  const sweepingPuts = every(SWEEP_PUTS_EVERY_MS, tried(sweepPuts))
  const sweepingResumables = every(SWEEP_EVERY_MS, tried(sweepResumables))
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
      closing.abort(new DOMException('the service ends', 'AbortError'))
      await completing.stop()
      await sweeping.stop()
      await sweepingPuts.stop()
      await resumables.stop()
      await sweepingResumables.stop()
      backends.jobs.pause()
      eager.stop()
      media.stop()
      await derivations.idle()
      await remotePictures.idle()
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

/** What files of other servers may be fetched from, beside the public web. */
function fetchAccess({ FETCH_PORTS, FETCH_ALLOW_ADDRESSES }: Config): FetchAccess {
  return { ports: (FETCH_PORTS ?? []).map(Number), addresses: FETCH_ALLOW_ADDRESSES ?? [] }
}

/** Whether there is a way to read what would be measured. */
function isWatched({ METRICS_TOKEN, METRICS_PORT }: Config): boolean {
  return METRICS_TOKEN !== undefined || METRICS_PORT !== undefined
}

async function firstCredentials(config: Config, file: string): Promise<Credentials> {
  const { CLIENT_TOKEN: clientToken, SECRET_CLIENT_TOKEN: secretClientToken } = config
  if (clientToken && secretClientToken) return { clientToken, secretClientToken }
  return loadCredentials(file)
}

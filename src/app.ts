import type { Server } from 'node:http'
import { availableParallelism } from 'node:os'
import { extname, join } from 'node:path'
import type { Express } from 'express'
import { loadChain, withEnvironment } from '../config/chain.ts'
import type { Config } from '../config/load.ts'
import { bucketClientStore } from './adapters/client-store/bucket.ts'
import { type Credentials, loadCredentials } from './adapters/credentials.ts'
import { inProcessEventBus } from './adapters/event-bus/in-process.ts'
import { guardedFetcher } from './adapters/fetcher/guarded.ts'
import { openBackends } from './backends.ts'
import { FIRST_CLIENT_ID } from './core/client.ts'
import type { Log } from './core/log.ts'
import type { Engine, EngineName, TransformLimits } from './core/plugin.ts'
import type { Buckets } from './core/ports/bucket.ts'
import type { FileIndex } from './core/ports/file-index.ts'
import { sharpEngine } from './engines/sharp.ts'
import { createHttp } from './http/server.ts'
import { refuseUnreadable } from './http/unreadable.ts'
import { createAdmission } from './pipeline/admission.ts'
import { loadPlugins, type PluginFolder } from './pipeline/load.ts'
import { createPlanner } from './pipeline/plan.ts'
import { createRunner } from './pipeline/run.ts'
import { createArchive } from './service/archive.ts'
import { type Clients, createClients } from './service/clients.ts'
import { createDeliveries } from './service/deliver.ts'
import { createDerivations } from './service/derive.ts'
import { createEventDelivery } from './service/event-delivery.ts'
import { createOriginals } from './service/originals.ts'
import { createRemovals } from './service/remove.ts'
import { createSweep, type Sweep } from './service/sweep.ts'
import { createUpload } from './service/upload.ts'

/** The adapters that hold files and their states. */
export interface Storage {
  buckets: Buckets
  index: FileIndex
}

export interface AppOptions {
  config: Config
  /** The project's folder: `config/chain.json` and drop-in `plugins/` are in it. */
  root: string
  /** Where clients reach this process; without a slash at its end. */
  baseUrl: string
  log: Log
  engines?: readonly Engine[]
  /** Puts something between the services and their storage: tests stop the process at chosen steps. */
  wrapStorage?: (storage: Storage) => Storage
}

/** A running service without a socket. */
export interface App {
  handle: Express
  /** Has a server answer as the service does also what it cannot read as a request. */
  refuseUnreadable(server: Server): void
  clients: Clients
  /** The first client's tokens. */
  credentials: Credentials
  sweep: Sweep
  /** Lets work in progress end, then gives the data folder back. */
  close(): Promise<void>
}

// What one request may cost: 40 MB of file, 50 MP x 4 bytes = 200 MB of pixels, half a minute of a core.
const LIMITS: TransformLimits = {
  sourceMaxBytes: 40_000_000,
  sourceMaxPixels: 50_000_000,
  outputMaxSide: 5000,
  // Two frames of the largest sides: a small animation in a large box is as costly as a large one.
  outputMaxPixels: 50_000_000,
  timeoutMs: 30_000,
}
// At half a second each, the last of them waits a minute for two cores.
const WAITING_TRANSFORMS = 256
const SWEEP_EVERY_MS = 60_000
// Of the ten seconds that an orderly end may take; what is left runs again after the next start.
const JOBS_GRACE_MS = 1_500

/**
 * Puts the service together: the only place that names adapters and engines.
 *
 * @throws DataDirError when the data folder cannot be used or another process holds it, PluginError for a broken plugin
 */
export async function createApp(options: AppOptions): Promise<App> {
  const { config, baseUrl, log } = options
  const { chain, engines, plugins } = await loadEverything(options)

  const backends = await openBackends(options)
  const { buckets, index } = options.wrapStorage?.(backends) ?? backends
  const { locks, jobs, zipLimiter } = backends

  const events = inProcessEventBus(log)
  const delivery = createEventDelivery({ plugins: plugins.events, jobs, fetcher: guardedFetcher(), log })
  delivery.listen(events)
  delivery.work()
  const store = await bucketClientStore(buckets.of({ id: FIRST_CLIENT_ID, token: '' }))
  const clients = createClients({ store, events })
  const credentials = await firstCredentials(config)
  await clients.ensureFirst(credentials)

  const originals = createOriginals({ index, buckets })
  const removals = createRemovals({ index, buckets, originals, events, log })
  const derivations = createDerivations({
    index,
    buckets,
    locks,
    events,
    run: createRunner(engines),
    admit: createAdmission({ atOnce: transformsAtOnce(config), waiting: WAITING_TRANSFORMS }),
    limits: LIMITS,
    log,
  })
  const plan = createPlanner(plugins.transforms, chain.ignoredParams)
  const deliveries = createDeliveries({ originals, derivations, buckets, plan })
  const handle = createHttp({
    clients,
    deliveries,
    removals,
    upload: createUpload({ index, buckets, events, removals, maxBytes: config.UPLOAD_MAX_BYTES }),
    archive: createArchive({ deliveries, events, log }),
    zipLimiter,
    checks: { bucket: () => buckets.ping(), index: () => index.ping() },
    baseUrl,
    fullContentRange: config.FULL_CONTENT_RANGE,
    ignoredParams: chain.ignoredParams,
    log,
  })

  const sweep = createSweep({ index, buckets, clients: store, removals, log })
  const sweeping = every(SWEEP_EVERY_MS, () =>
    sweep().catch((error) => log.error({ err: error }, 'a sweep failed; the next one tries again')),
  )
  return {
    handle,
    refuseUnreadable: (server) => refuseUnreadable(server, log),
    clients,
    credentials,
    sweep,
    async close() {
      await sweeping.stop()
      await derivations.idle()
      await events.idle()
      await jobs.close({ graceMs: JOBS_GRACE_MS })
      await backends.close()
    },
  }
}

/** As many as there are cores, shared with the other web processes of this machine. */
function transformsAtOnce({ WEB_CONCURRENCY }: Config): number {
  return Math.max(1, Math.floor(availableParallelism() / WEB_CONCURRENCY))
}

/**
 * What is read before anything is touched: the chain and all plugins.
 *
 * @throws PluginError for a broken plugin, Error for a broken `config/chain.json`
 */
export async function loadEverything({ config, root, engines: given = [sharpEngine] }: LoadOptions) {
  const engines = new Map<EngineName, Engine>(given.map((engine) => [engine.name, engine]))
  const chain = withEnvironment(await loadChain(join(root, 'config', 'chain.json')), config)
  const plugins = await loadPlugins({ folders: pluginFolders(root, config.PLUGINS_DIR), engines, chain })
  return { chain, engines, plugins }
}

type LoadOptions = Pick<AppOptions, 'config' | 'root' | 'engines'>

/** Sluice's own plugins lie beside this file's folder, compiled as it is; drop-ins are plain JavaScript. */
function pluginFolders(root: string, more: string | undefined): PluginFolder[] {
  const own = join(import.meta.dirname, '..', 'plugins')
  return [
    { path: own, extension: extname(import.meta.filename), shipped: true },
    { path: join(root, 'plugins'), extension: '.js', shipped: false, optional: true },
    ...(more === undefined ? [] : [{ path: more, extension: '.js', shipped: false }]),
  ]
}

async function firstCredentials(config: Config): Promise<Credentials> {
  const { CLIENT_TOKEN: clientToken, SECRET_CLIENT_TOKEN: secretClientToken } = config
  if (clientToken && secretClientToken) return { clientToken, secretClientToken }
  return loadCredentials(join(config.DATA_DIR, 'credentials.json'))
}

/** Runs `work` now and then again and again, never twice at a time. */
function every(milliseconds: number, work: () => Promise<unknown>): { stop(): Promise<void> } {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  let running: Promise<unknown>
  const run = () => {
    running = work().finally(() => {
      if (!stopped) timer = setTimeout(run, milliseconds)
    })
  }
  run()
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

import type { Config } from '../../config/load.ts'
import { silenceNodeWarning } from '../../config/node-warning.ts'
import { withOwnBuckets } from '../adapters/bucket/own.ts'
import { ownObjects } from '../adapters/bucket/own-objects.ts'
import { bucketClientStore } from '../adapters/client-store/bucket.ts'
import { saveCredentials } from '../adapters/credentials.ts'
import { inProcessEventBus } from '../adapters/event-bus/in-process.ts'
import { watchedIndex } from '../adapters/file-changes/watched-index.ts'
import { tracedJobs } from '../adapters/telemetry/traced-jobs.ts'
import { every } from '../core/async/every.ts'
import { throttled } from '../core/async/throttle-log.ts'
import { FIRST_CLIENT_ID } from '../core/clients/client.ts'
import { createRecovery } from '../core/clients/recovery.ts'
import { foreignTest } from '../core/foreign/foreign-path.ts'
import type { Log } from '../core/log.ts'
import type { Buckets } from '../core/ports/bucket.ts'
import type { FileIndex } from '../core/ports/file-index.ts'
import type { PluginSet } from '../pipeline/load/load.ts'
import { presetChecker } from '../pipeline/plan/presets.ts'
import { createHasFiles } from '../service/admin/has-files.ts'
import { createClients } from '../service/clients/clients.ts'
import { createUrlKeys } from '../service/clients/url-keys.ts'
import { createDeleteDerivatives } from '../service/derivatives/command.ts'
import { createEvict } from '../service/derivatives/evict.ts'
import { createPendingStores } from '../service/derivatives/pending-stores.ts'
import { createRemoveDerivatives } from '../service/derivatives/remove.ts'
import { createUsage } from '../service/files/usage.ts'
import { createCheck } from '../service/maintenance/check.ts'
import { createReindex } from '../service/maintenance/reindex.ts'
import { createSweep } from '../service/maintenance/sweep.ts'
import { createSweepPuts } from '../service/maintenance/sweep-partial-writes.ts'
import { createTakeIn } from '../service/maintenance/take-in.ts'
import { createAgree } from '../service/originals/agree.ts'
import { createRemovals } from '../service/originals/delete.ts'
import { createForgetMissing } from '../service/originals/forget-missing.ts'
import { createOriginalEvents } from '../service/originals/original-events.ts'
import { createOriginals } from '../service/originals/originals.ts'
import { createRecords } from '../service/originals/records.ts'
import { createSoftDeletes } from '../service/originals/trash.ts'
import { createScanQueue } from '../service/scans/scan-queue.ts'
import { openManagedClients } from './access/managed-clients.ts'
import { type MembersOptions, openMembers } from './access/members.ts'
import { openServiceCommands } from './access/service-commands.ts'
import { openScans } from './events/scans.ts'
import { deliveryLogLimits, type Observed, openWebhooks } from './events/webhooks.ts'
import { credentialsFile, openAppKeys } from './first-client.ts'
import { type Backends, openBackends } from './storage/backends.ts'
import { openIndexUpkeep } from './storage/index-upkeep.ts'
import { openUploads } from './uploads.ts'

silenceNodeWarning()

/** The adapters that store files and their state. */
export interface Storage {
  buckets: Buckets
  index: FileIndex
}

export interface ServicesOptions extends Pick<MembersOptions, 'passwordCost'>, Observed {
  config: Config
  /** The URL of this process for clients, without a trailing slash. */
  baseUrl: string
  log: Log
  plugins: Pick<PluginSet, 'events' | 'transforms' | 'scanner'>
  /** Wraps the storage. Tests use it to stop the process at chosen steps. */
  wrapStorage?: ((storage: Storage) => Storage) | undefined
  /** How long a process may use its cached clients before it reads the changes of other processes. Default: 5 s; tests set less. */
  clientCacheTtlMs?: number
}

export type Services = Awaited<ReturnType<typeof openServices>>

// The interval of checks for changes by other processes, and the time after which all processes know them. For this time,
// a secret that was revoked in another process may still be accepted here.
const REFRESH_EVERY_MS = 2000
const CLIENT_CACHE_TTL_MS = 5000
// Counts since the last flush are lost when a process is killed.
const COUNT_EVERY_MS = 5000

/**
 * Opens the services that the server and an operator's command share: files and their state, clients, events.
 *
 * @throws DataDirError when another process holds the data folder
 */
export async function openServices(options: ServicesOptions) {
  const backends = await openBackends({ ...options, deliveryLog: deliveryLogLimits(options) })
  try {
    return await buildServices(backends, options)
  } catch (error) {
    // An open connection would keep an operator's command from exiting, an open folder would block the next try.
    await backends.close({ graceMs: 0 })
    throw error
  }
}

async function buildServices(opened: Backends, options: ServicesOptions) {
  const { config, log, plugins, tracing, wrapStorage } = options
  const backends = tracing ? { ...opened, jobs: tracedJobs(opened.jobs, tracing) } : opened
  const first = { id: FIRST_CLIENT_ID, token: '' }
  const keys = await openAppKeys({ config, bucket: backends.buckets.of(first), log })
  const recovery = createRecovery(keys)
  const credentialsKey = keys('bucket credentials')
  const storage = {
    buckets: withOwnBuckets(backends.buckets, { key: credentialsKey, log, silenceMs: config.S3_TIMEOUT_MS }),
    index: backends.index,
  }
  const { buckets: allObjects, index: stored } = wrapStorage?.(storage) ?? storage
  const { index, changes: fileChanges } = watchedIndex(stored, backends.fileChanges)
  const isForeign = foreignTest(config.FOREIGN_PREFIXES ?? [])
  const buckets = config.FOREIGN_PREFIXES ? ownObjects(allObjects, isForeign) : allObjects
  const { locks, clientChanges } = backends
  const clientCacheTtlMs = clientChanges ? (options.clientCacheTtlMs ?? CLIENT_CACHE_TTL_MS) : 0

  const events = inProcessEventBus(log)
  const usage = createUsage({ index, store: backends.usage })
  usage.listen(events)
  const warnUsageFlush = throttled((err) => log.warn({ err }, 'usage flush failed; will retry'))
  const { delivery, webhooks, webhookCommands } = openWebhooks(backends, options)
  delivery.listen(events)
  const firstBucket = buckets.of(first)
  const shared = clientChanges && { shared: { changes: clientChanges, locks } }
  const store = await bucketClientStore(firstBucket, shared)
  const keepFirst = config.SECRET_CLIENT_TOKEN
    ? undefined
    : (tokens: Parameters<typeof saveCredentials>[1]) => saveCredentials(credentialsFile(config), tokens)
  const bounds = {
    uploadMaxBytes: config.UPLOAD_MAX_BYTES,
    wrongPresets: presetChecker(plugins.transforms),
  }
  const clients = createClients({
    store,
    urlKeys: createUrlKeys(keys),
    events,
    keepFirst,
    recovery,
    bounds,
    ...(clientChanges ? { trustMs: clientCacheTtlMs } : {}),
  })
  const originalEvents = createOriginalEvents({ events, baseUrl: options.baseUrl, urlKeys: clients.urlKeys })
  const originals = createOriginals({ index, buckets, originalEvents })
  const records = createRecords({ index, buckets, locks })
  const agree = createAgree({ index, originals, records })
  const scans = createScanQueue({ jobs: plugins.scanner && backends.jobs })
  const trash = createSoftDeletes({ index, originals, records, originalEvents, scans })
  const pendingStores = createPendingStores()
  const removing = { index, buckets, originals, originalEvents, trash, agree, pendingStores, log }
  const removals = createRemovals(removing)
  const evict = createEvict({ index, buckets })
  const removeDerivatives = createRemoveDerivatives({ index, buckets, originals, evict })
  const sweep = createSweep({ index, buckets, clients: store, removals, agree, log })
  const sweepPuts = createSweepPuts({ buckets, bucket: firstBucket, clients: store, log })
  const uploads = openUploads({
    ...{ backends, config, keys, buckets, firstBucket, index, clients, store },
    ...{ originalEvents, originals, removals, scans, log },
  })
  const { storing, sweepResumables } = uploads
  const warnClientUpdates = throttled((err) =>
    log.warn({ err }, 'client updates unavailable; using the cached state'),
  )
  const forgetMissing = createForgetMissing({ index, buckets, originals })
  const takeIn = createTakeIn({ index, buckets, originals, agree, scans })
  const takingIn = { index, buckets, clients: store, takeIn, forgetMissing }
  const managedClients = openManagedClients({
    clients,
    store,
    hasFiles: createHasFiles({ buckets, index }),
    ...{ locks, partitioning: backends.partitioning },
    clientCacheTtlMs,
    events,
    key: credentialsKey,
    config,
    index,
    buckets,
    removals,
    resumables: sweepResumables,
  })
  const members = await openMembers({ ...options, backends, bucket: firstBucket, clients: store, keys })
  const serviceCommands = openServiceCommands({
    ...{ ...backends, index, audit: members.http.audit },
    clients: managedClients,
    store,
    check: createCheck({ index, buckets, clients: store, records }),
    deleteDerivatives: createDeleteDerivatives({ index, store, removeDerivatives }),
    reindex: createReindex(takingIn),
    sweep,
    sweepPuts,
    usage,
    sweepResumables,
  })
  const presentClient = async (id: string) => {
    await store.refresh()
    return store.find(id)
  }
  // Started last: after an error above, the timer would never be stopped.
  const counting = every(COUNT_EVERY_MS, () => usage.flush().catch(warnUsageFlush))
  return {
    backends,
    tracing,
    allObjects,
    isForeign,
    buckets,
    index,
    fileChanges,
    keys,
    events,
    delivery,
    webhooks,
    clients,
    managedClients,
    members,
    findClient: (id: string) => store.find(id),
    presentClient,
    scans,
    scanning: openScans(plugins, { ...options, ...backends, ...removing, records, removals, presentClient }),
    originals,
    originalEvents,
    ...openIndexUpkeep({ ...takingIn, ledger: backends.ledger, locks, log }),
    records,
    removals,
    pendingStores,
    evict,
    removeDerivatives,
    usage,
    trash,
    sweep,
    sweepPuts,
    ...uploads,
    commands: { ...serviceCommands, ...webhookCommands, ...members.commands },
    recovery,
    /** Keeps clients and members up to date with changes by other processes. Undefined when there are none. */
    followClients: () =>
      clientChanges &&
      every(REFRESH_EVERY_MS, () =>
        Promise.all([store.refresh().catch(warnClientUpdates), members.follow()]),
      ),
    /** Waits for event handlers, then closes everything. */
    async close({ graceMs }: { graceMs: number }) {
      await storing.stop()
      await events.idle()
      await counting.stop()
      await usage.flush().catch(warnUsageFlush)
      await backends.close({ graceMs })
    },
  }
}

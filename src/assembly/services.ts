import type { Config } from '../../config/load.ts'
import { silenceNodeWarning } from '../../config/node-warning.ts'
import { withOwnBuckets } from '../adapters/bucket/own.ts'
import { normalPrefix } from '../adapters/bucket/s3/root.ts'
import { tryStorage } from '../adapters/bucket/try-storage.ts'
import { bucketClientStore } from '../adapters/client-store/bucket.ts'
import { saveCredentials } from '../adapters/credentials.ts'
import { inProcessEventBus } from '../adapters/event-bus/in-process.ts'
import { guardedFetcher } from '../adapters/fetcher/guarded.ts'
import { every } from '../core/async/every.ts'
import { rarely } from '../core/async/throttle-log.ts'
import { FIRST_CLIENT_ID, type PresetSettings } from '../core/clients/client.ts'
import type { Root } from '../core/clients/client-storage.ts'
import { createRecovery } from '../core/clients/recovery.ts'
import type { Log } from '../core/log.ts'
import type { Buckets } from '../core/ports/bucket.ts'
import type { FileIndex } from '../core/ports/file-index.ts'
import type { PluginSet } from '../pipeline/load/load.ts'
import { readPresets } from '../pipeline/plan/presets.ts'
import { createClientStorages } from '../service/admin/client-storage.ts'
import { createManagedClients } from '../service/admin/clients.ts'
import { createCommands } from '../service/admin/commands.ts'
import { createHasFiles } from '../service/admin/has-files.ts'
import { createRemoveClient } from '../service/admin/remove-client.ts'
import { createChangeKnown } from '../service/clients/change-existing.ts'
import { createClients } from '../service/clients/clients.ts'
import { createUrlKeys } from '../service/clients/url-keys.ts'
import { createAnswered } from '../service/derivatives/answered.ts'
import { createDeleteDerivatives } from '../service/derivatives/command.ts'
import { createEvict } from '../service/derivatives/evict.ts'
import { createRemoveDerivatives } from '../service/derivatives/remove.ts'
import { createEventDelivery } from '../service/events/delivery.ts'
import { createUsage } from '../service/files/usage.ts'
import { createCheck } from '../service/maintenance/check.ts'
import { createCompletion } from '../service/maintenance/complete-index.ts'
import { createReindex } from '../service/maintenance/reindex.ts'
import { createSweep } from '../service/maintenance/sweep.ts'
import { createSweepPuts } from '../service/maintenance/sweep-partial-writes.ts'
import { createAgree } from '../service/originals/agree.ts'
import { createRemovals } from '../service/originals/delete.ts'
import { createForgetMissing } from '../service/originals/forget-missing.ts'
import { createOriginals } from '../service/originals/originals.ts'
import { createRecords } from '../service/originals/records.ts'
import { createTrashing } from '../service/originals/trash.ts'
import { createResumableOriginals } from '../service/upload/finish-resumable.ts'
import { createLinkUploads } from '../service/upload/link-uploads.ts'
import { createLinkUses } from '../service/upload/link-uses.ts'
import { createResumablePieces } from '../service/upload/pieces.ts'
import { createResumables } from '../service/upload/resumable.ts'
import { createSweepResumables } from '../service/upload/sweep-resumables.ts'
import { createUpload } from '../service/upload/upload.ts'
import { createSignedLinks } from '../service/upload/upload-links.ts'
import { type Backends, openBackends } from './backends.ts'
import { credentialsFile, openAppKeys } from './first-client.ts'

/** The adapters that hold files and their states. */
export interface Storage {
  buckets: Buckets
  index: FileIndex
}

export interface FoundationOptions {
  config: Config
  /** Where clients reach this process; without a slash at its end. */
  baseUrl: string
  log: Log
  plugins: Pick<PluginSet, 'events' | 'transforms'>
  /** Puts something between the services and their storage: tests stop the process at chosen steps. */
  wrapStorage?: ((storage: Storage) => Storage) | undefined
}

export type Foundation = Awaited<ReturnType<typeof openFoundation>>

// How often a process asks whether others have changed a client, and how long a removal waits until all have heard: for so
// long, a secret that was taken away elsewhere may still be accepted here.
const REFRESH_EVERY_MS = 2000
const LEARN_MS = 5000
// What a killed process has not written down yet is lost.
const COUNT_EVERY_MS = 5000

/**
 * What the service and an operator's command both stand on: files and their states, clients, events.
 *
 * @throws DataDirError when another process holds the data folder
 */
export async function openFoundation(options: FoundationOptions) {
  silenceNodeWarning()
  const backends = await openBackends(options)
  try {
    return await layFoundation(backends, options)
  } catch (error) {
    // An open connection would keep an operator's command from its end, an open folder whoever tries again.
    await backends.close({ graceMs: 0 })
    throw error
  }
}

async function layFoundation(backends: Backends, { config, log, plugins, wrapStorage }: FoundationOptions) {
  const first = { id: FIRST_CLIENT_ID, token: '' }
  const keys = await openAppKeys({ config, bucket: backends.buckets.of(first), log })
  const recovery = createRecovery(keys)
  const credentialsKey = keys('bucket credentials')
  const storage = {
    buckets: withOwnBuckets(backends.buckets, { key: credentialsKey, log }),
    index: backends.index,
  }
  const { buckets, index } = wrapStorage?.(storage) ?? storage
  const { jobs, locks, clientChanges } = backends

  const events = inProcessEventBus(log)
  const usage = createUsage({ index, store: backends.usage })
  usage.listen(events)
  const tellUncounted = rarely((err) => log.warn({ err }, 'usage is written down later'))
  const delivery = createEventDelivery({ plugins: plugins.events, jobs, fetcher: guardedFetcher(), log })
  delivery.listen(events)
  const firstBucket = buckets.of(first)
  const store = await bucketClientStore(
    firstBucket,
    clientChanges ? { shared: { changes: clientChanges, locks } } : {},
  )
  const keepFirst = config.SECRET_CLIENT_TOKEN
    ? undefined
    : (tokens: Parameters<typeof saveCredentials>[1]) => saveCredentials(credentialsFile(config), tokens)
  const { UPLOAD_MAX_BYTES: maxBytes } = config
  const bounds = {
    uploadMaxBytes: maxBytes,
    wrongPresets: (settings: PresetSettings) => readPresets(settings, plugins.transforms).wrong,
  }
  const clients = createClients({
    store,
    urlKeys: createUrlKeys(keys),
    events,
    keepFirst,
    recovery,
    bounds,
    ...(clientChanges ? { trustMs: LEARN_MS } : {}),
  })
  const originals = createOriginals({ index, buckets, events })
  const records = createRecords({ index, buckets, locks })
  const agree = createAgree({ index, originals, records })
  const trash = createTrashing({ index, originals, records, events })
  const answered = createAnswered()
  const removals = createRemovals({ index, buckets, originals, trash, agree, answered, events, log })
  const evict = createEvict({ index, buckets })
  const removeDerivatives = createRemoveDerivatives({ index, buckets, originals, evict })
  const sweep = createSweep({ index, buckets, clients: store, removals, agree, log })
  const sweepPuts = createSweepPuts({ buckets, clients: store, log })
  const { admits } = clients
  const upload = createUpload({ index, buckets, events, removals, admits, maxBytes })
  const linkUses = createLinkUses({ ledger: backends.ledger, index, removals })
  const signedLinks = createSignedLinks({
    ...{ keys, upload, originals },
    uses: linkUses,
    findClient: (id) => store.find(id),
  })
  const pieces = createResumablePieces(firstBucket)
  const expireMs = config.TUS_EXPIRE_SECONDS * 1000
  const resumables = createResumables({
    ...{ bucket: firstBucket, pieces, locks, signedLinks, admits },
    resumableOriginals: createResumableOriginals({
      ...{ pieces, index, buckets, originals, upload, removals, signedLinks },
    }),
    linkUploads: createLinkUploads({ ledger: backends.ledger, uses: linkUses }),
    ...{ maxBytes, expireMs },
  })
  const sweepResumables = createSweepResumables({
    ...{ bucket: firstBucket, clients: store, resumables, pieces, expireMs, log },
  })
  const tellDeaf = rarely((err) =>
    log.warn({ err }, 'changes of clients cannot be heard of; what is known stays'),
  )
  const learnMs = clientChanges ? LEARN_MS : 0
  const forgetMissing = createForgetMissing({ index, buckets, originals })
  const reindex = createReindex({ index, buckets, clients: store, originals, agree, forgetMissing })
  const hasFiles = createHasFiles({ buckets, index })
  const managedClients = createManagedClients({
    ...{ clients, store },
    storages: createClientStorages({
      ...{ store, hasFiles, locks, tryStorage, learnMs },
      changeKnown: createChangeKnown({ store, events }),
      key: credentialsKey,
      installation: installationRoot(config),
    }),
    removeClient: createRemoveClient({
      ...{ clients: store, index, buckets, removals, hasFiles, events, learnMs },
      resumables: sweepResumables,
    }),
  })
  const commands = createCommands({
    clients: managedClients,
    store,
    check: createCheck({ index, buckets, clients: store, records }),
    deleteDerivatives: createDeleteDerivatives({ index, store, removeDerivatives }),
    reindex,
    sweep,
    sweepPuts,
    usage,
    sweepResumables,
  })
  // Once nothing can fail any more: it would go on for ever.
  const counting = every(COUNT_EVERY_MS, () => usage.flush().catch(tellUncounted))
  return {
    backends,
    buckets,
    index,
    keys,
    events,
    delivery,
    clients,
    managedClients,
    findClient: (id: string) => store.find(id),
    async presentClient(id: string) {
      await store.refresh()
      return store.find(id)
    },
    originals,
    complete: createCompletion({ index, locks, reindex, log }),
    records,
    removals,
    answered,
    evict,
    removeDerivatives,
    usage,
    trash,
    sweep,
    sweepPuts,
    upload,
    signedLinks,
    resumables,
    sweepResumables,
    commands,
    recovery,
    /** Goes on hearing of clients that other processes have changed, where there may be others. */
    followClients: () => clientChanges && every(REFRESH_EVERY_MS, () => store.refresh().catch(tellDeaf)),
    /** Lets event handlers end, then gives everything back. */
    async close({ graceMs }: { graceMs: number }) {
      await resumables.stop()
      await events.idle()
      await counting.stop()
      await usage.flush().catch(tellUncounted)
      await backends.close({ graceMs })
    },
  }
}

/** Where the SDK itself finds the endpoint, nobody here knows it. */
function installationRoot(config: Config): Root | undefined {
  const { S3_BUCKET: bucket, S3_PREFIX = '', AWS_ENDPOINT_URL_S3: endpoint } = config
  return bucket === undefined ? undefined : { endpoint, bucket, prefix: normalPrefix(S3_PREFIX) }
}

import { inProcessEventBus } from '../../../src/adapters/event-bus/in-process.ts'
import { every } from '../../../src/core/async/every.ts'
import { type Asset, assetFromBytes, readAll } from '../../../src/core/bytes/asset.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import {
  derivativeKey,
  type ObjectKey,
  type OriginalName,
  parseKey,
} from '../../../src/core/files/object-key.ts'
import type { ClientStore } from '../../../src/core/ports/client-store.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import type { Ledger } from '../../../src/core/ports/ledger.ts'
import type { Locks } from '../../../src/core/ports/locks.ts'
import { fileNotFound } from '../../../src/core/problem.ts'
import type { Plan } from '../../../src/pipeline/plan/plan.ts'
import type { WorkRunner } from '../../../src/pipeline/run/run.ts'
import { createDerivations } from '../../../src/service/derivatives/derive.ts'
import { createEvict } from '../../../src/service/derivatives/evict.ts'
import { originalBytes } from '../../../src/service/derivatives/original-bytes.ts'
import { createPendingStores } from '../../../src/service/derivatives/pending-stores.ts'
import { createAnnotate } from '../../../src/service/files/annotate.ts'
import { createList } from '../../../src/service/files/list.ts'
import { createCheck } from '../../../src/service/maintenance/check.ts'
import { createCompareBatch } from '../../../src/service/maintenance/comparison/compare-batch.ts'
import { createCompletion } from '../../../src/service/maintenance/comparison/comparison.ts'
import { createSweep } from '../../../src/service/maintenance/sweep.ts'
import { createTakeIn } from '../../../src/service/maintenance/take-in.ts'
import { createCopies } from '../../../src/service/moves/copies.ts'
import { createAgree } from '../../../src/service/originals/agree.ts'
import { createRemovals } from '../../../src/service/originals/delete.ts'
import { createForgetMissing } from '../../../src/service/originals/forget-missing.ts'
import { createOriginalEvents } from '../../../src/service/originals/original-events.ts'
import { createOriginals } from '../../../src/service/originals/originals.ts'
import { createRecords } from '../../../src/service/originals/records.ts'
import { createSoftDeletes } from '../../../src/service/originals/trash.ts'
import { createScanQueue } from '../../../src/service/scans/scan-queue.ts'
import { createUpload } from '../../../src/service/upload/upload.ts'
import { recordLog } from '../../support/texts/recorded-log.ts'
import type { BucketStore } from '../stores/bucket-store.ts'
import type { Process, World } from './world.ts'

/** The stores that all processes share. */
export interface Stores {
  bucket: BucketStore
  index: { remote: FileIndex }
  ledger: Ledger
  locks: Locks
}

const SWEEP_EVERY_MS = 60_000
// Five seconds in the service. Most of these calls find nothing to do.
const COMPLETE_EVERY_MS = 20_000
const LIMITS = {
  sourceMaxBytes: 1e6,
  videoMaxBytes: 1e6,
  sourceMaxPixels: 1e6,
  outputMaxSide: 1000,
  outputMaxPixels: 1e6,
  outputMaxBytes: 1e6,
  timeoutMs: 10_000,
  cores: 1,
}
const NOTHING = async () => {}

/** The bytes of a derivative follow from those of its original. */
export const derived = (bytes: Buffer, variant: string) => Buffer.from(`${variant} of ${bytes.toString()}`)

export function nameOf(key: ObjectKey): OriginalName {
  const name = parseKey(key)
  if (!name) throw new Error(`not the key of an original: ${key}`)
  return name
}

/** Starts the services of a process, with their periodic work. Only plugins, engines and HTTP are left out. */
export function startService(world: World, process: Process, stores: Stores, clients: readonly Client[]) {
  const { buckets } = stores.bucket
  const { ledger, locks } = stores
  const index = stores.index.remote
  const log = recordLog()
  const now = () => Date.now()
  const store = {
    refresh: NOTHING,
    list: () => clients,
    find: (id: string) => clients.find((one) => one.id === id),
  } as unknown as ClientStore
  const events = inProcessEventBus(log)
  const urlKeys = { newest: () => undefined } as unknown as Parameters<
    typeof createOriginalEvents
  >[0]['urlKeys']
  const originalEvents = createOriginalEvents({ events, baseUrl: 'https://files.test', urlKeys })
  const originals = createOriginals({ index, buckets, originalEvents })
  const records = createRecords({ index, buckets, locks, now })
  const agree = createAgree({ index, originals, records })
  const scans = createScanQueue({ jobs: undefined })
  const trash = createSoftDeletes({ index, originals, records, originalEvents, scans, now })
  const pendingStores = createPendingStores()
  const removing = { index, buckets, originals, originalEvents, trash, agree, pendingStores, log, now }
  const removals = createRemovals(removing)
  const evict = createEvict({ index, buckets, now })
  const takeIn = createTakeIn({ index, buckets, originals, agree, scans, now })
  const forgetMissing = createForgetMissing({ index, buckets, originals })
  const pace = { begin() {}, rest: NOTHING, end() {} }
  const completion = createCompletion({
    ...{ index, ledger, locks, log, buckets, takeIn, pace, now },
    clients: store,
    compareBatch: createCompareBatch({ index, takeIn, forgetMissing, pace }),
  })
  const sweep = createSweep({ index, buckets, clients: store, removals, agree, log, now })
  const upload = createUpload({
    ...{ index, buckets, originalEvents, removals, scans, now },
    admits: async () => true,
    checkPixels: NOTHING,
    decodable: {},
    maxBytes: 1e6,
    streamedMaxBytes: 1e6,
  })
  const render: WorkRunner = async (plan, source) => {
    const bytes = derived(await readAll(source), plan.variant)
    await new Promise<void>((resolve) => world.after(world.random.next() * 500, resolve))
    return assetFromBytes(bytes, { mediaType: 'text/plain', lastModified: new Date() })
  }
  const derivations = createDerivations({
    ...{ index, buckets, originals, locks, events, pendingStores, evict, log, now },
    assets: { of: async () => async () => Promise.reject(fileNotFound()) },
    run: render,
    cpuTime: { check: NOTHING },
    limits: LIMITS,
    derivativeLimits: { variantLimit: 100, derivativesMaxBytes: 0, derivativesMaxTimes: 100 },
  })

  /** Delivers a file or a derivative, as a GET does. @throws Problem 404, 503 */
  async function deliver(client: Client, key: ObjectKey, variant?: string): Promise<Buffer> {
    const name = nameOf(key)
    const derivative = variant === undefined ? undefined : derivativeKey(key, variant)
    const found = await originals.findToRead(client, name, derivative)
    if (!found) throw fileNotFound()
    const asset = async (): Promise<Asset | undefined> => {
      if (derivative === undefined || variant === undefined)
        return originalBytes(buckets.of(client), found.record)
      const stored = await originals.derivativeToRead(client, key, derivative, found.indexed)
      const plan = { variant, steps: [] } as unknown as Plan
      const signal = new AbortController().signal
      const caller = { address: '192.0.2.1' } as unknown as Parameters<typeof derivations.derive>[0]['caller']
      return stored ?? derivations.derive({ ...found, client, caller, plan, signal })
    }
    const bytes = await asset()
    if (!bytes) throw fileNotFound()
    return readAll(bytes)
  }

  const copies = createCopies({
    ...{ index, buckets, originals, records, removals, scans, originalEvents, now },
    redirects: { put: NOTHING, drop: NOTHING } as unknown as Parameters<typeof createCopies>[0]['redirects'],
    admits: async () => true,
  })
  every(SWEEP_EVERY_MS, () => sweep().catch(() => 0))
  every(COMPLETE_EVERY_MS, () => completion.complete(new AbortController().signal).catch(NOTHING))
  return {
    process,
    log,
    upload,
    deliver,
    removals,
    trash,
    copies,
    annotate: createAnnotate({ originals, records, index, now }),
    list: createList({ index, buckets }),
    sweep,
    check: createCheck({ index, buckets, clients: store, records }),
  }
}

export type ServiceProcess = ReturnType<typeof startService>

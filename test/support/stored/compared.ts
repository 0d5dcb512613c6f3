import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { embeddedIndex } from '../../../src/adapters/file-index/embedded/embedded.ts'
import { embeddedLedger } from '../../../src/adapters/ledger/embedded.ts'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { sha256 } from '../../../src/core/bytes/digest.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { type ObjectKey, recordKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Bucket, Buckets } from '../../../src/core/ports/bucket.ts'
import type { ClientStore } from '../../../src/core/ports/client-store.ts'
import type { FileIndex, OriginalRecord, Trash } from '../../../src/core/ports/file-index.ts'
import type { Locks } from '../../../src/core/ports/locks.ts'
import { byBytes } from '../../../src/core/text/byte-order.ts'
import { createCompareBatch } from '../../../src/service/maintenance/comparison/compare-batch.ts'
import { createCompletion } from '../../../src/service/maintenance/comparison/comparison.ts'
import { NAME as PROGRESS, progressIn } from '../../../src/service/maintenance/comparison/progress.ts'
import { createTakeIn } from '../../../src/service/maintenance/take-in.ts'
import { createAgree } from '../../../src/service/originals/agree.ts'
import { createForgetMissing } from '../../../src/service/originals/forget-missing.ts'
import type { OriginalEvents } from '../../../src/service/originals/original-events.ts'
import { createOriginals } from '../../../src/service/originals/originals.ts'
import { createRecords, serializeRecord } from '../../../src/service/originals/records.ts'
import { createScanQueue } from '../../../src/service/scans/scan-queue.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type RecordedLog, recordLog } from '../texts/recorded-log.ts'

/** Objects in memory, with the names of all calls. */
export interface ObjectsInMemory {
  objects: Map<ObjectKey, Buffer>
  /** `find <key>`, `list <prefix>`, … */
  calls: string[]
  /** Awaited before each call. */
  before: (call: string) => Promise<void> | void
}

/** A process that compares. */
export interface ComparingProcess {
  completion: ReturnType<typeof createCompletion>
  log: RecordedLog
}

/** An index, a bucket per client, and processes that compare them. */
export interface ComparedStorage {
  index: FileIndex
  buckets: Buckets
  /** Names the run of the index. It changes with each restart of its store. */
  restart(): void
  /** The store does not name its runs. */
  hideRuns(): void
  /** The store loses all entries and the progress of the comparison. */
  empty(): Promise<void>
  /** Removes a client, without its files. */
  remove(clientId: string): void
  /** Replaces methods of the index, for processes that start later. */
  wrapIndex(wrap: (index: FileIndex) => Partial<FileIndex>): void
  isCompared(): Promise<boolean>
  /** The ids of ranges that are not finished. */
  rangesLeft(): Promise<string[]>
  bucketOf(clientId: string): ObjectsInMemory
  /** A process. @param options.locks those of the process that it replaces, or of the others. Default: of a machine that was restarted */
  start(options?: { locks?: Locks; batchKeys?: number }): ComparingProcess
  /** Stores an original with its record in the bucket, and with `indexed` in the index. */
  store(key: ObjectKey, options?: StoreOptions): Promise<OriginalRecord>
  close(): Promise<void>
}

interface StoreOptions {
  clientId?: string
  indexed?: boolean
  derivatives?: readonly ObjectKey[]
  trash?: Trash
}

/** @param clientIds one bucket each */
export async function openCompared(clientIds: readonly string[] = ['first']): Promise<ComparedStorage> {
  const folder = await temporaryFolder()
  const index = await embeddedIndex(join(folder, 'index'))
  const ledger = await embeddedLedger(join(folder, 'ledger'))
  const all = new Map<string, ObjectsInMemory>()
  const bucketOf = (clientId: string) => {
    const known = all.get(clientId) ?? { objects: new Map(), calls: [], before: () => {} }
    all.set(clientId, known)
    return known
  }
  const buckets = { of: ({ id }: Pick<Client, 'id'>) => inMemory(bucketOf(id)) } as unknown as Buckets
  let known = clientIds.map((id) => ({ id }) as Client)
  const clients = {
    refresh: async () => {},
    list: () => known,
    find: (id: string) => known.find((one) => one.id === id),
  } as unknown as ClientStore
  let [run, data, isNamed] = [1, 1, true]
  let compared: string | undefined
  const watched: FileIndex = {
    ...index,
    run: async () => ({
      id: isNamed ? `run ${run}` : undefined,
      data: `data ${data}`,
      isCompared: isNamed && compared === `run ${run}`,
    }),
    async markComplete(name) {
      if (name === undefined || name === `run ${run}` || name === `data ${data}`) await index.markComplete()
    },
    noteCompared: async (name) => {
      compared = name
    },
  }
  let wrap: (index: FileIndex) => Partial<FileIndex> = () => ({})

  return {
    index,
    buckets,
    bucketOf,
    restart() {
      run += 1
    },
    hideRuns() {
      isNamed = false
    },
    async empty() {
      data += 1
      run += 1
      for await (const { ref } of index.list()) {
        await index.beginRemoval(ref, { cause: 'purge', leaseUntil: 0, now: 0 })
        await index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
      }
      const known = await progressIn(ledger, Date.now).find()
      if (known) await ledger.replace(PROGRESS, JSON.stringify(known), undefined, { forgetAt: 0 })
    },
    remove(clientId) {
      known = known.filter(({ id }) => id !== clientId)
    },
    wrapIndex(by) {
      wrap = by
    },
    isCompared: async () => (await watched.run()).isCompared,
    rangesLeft: async () => (await progressIn(ledger, Date.now).find())?.ranges.map(({ id }) => id) ?? [],

    start({ locks = inProcessLocks(), batchKeys = 8 } = {}) {
      const seen: FileIndex = { ...watched, ...wrap(watched) }
      const log = recordLog()
      const originalEvents = { stored: () => {} } as unknown as OriginalEvents
      const originals = createOriginals({ index: seen, buckets, originalEvents })
      const records = createRecords({ index: seen, buckets, locks })
      const agree = createAgree({ index: seen, originals, records })
      const scans = createScanQueue({ jobs: undefined })
      const takeIn = createTakeIn({ index: seen, buckets, originals, agree, scans })
      const pace = { begin() {}, rest: async () => {}, end() {} }
      const parts = { index: seen, pace, buckets, clients, locks, ledger, log, takeIn, batchKeys }
      const compareBatch = createCompareBatch({
        index: seen,
        takeIn,
        forgetMissing: createForgetMissing({ index: seen, buckets, originals }),
        pace,
      })
      return { completion: createCompletion({ ...parts, compareBatch }), log }
    },

    async store(key, { clientId = 'first', indexed = true, derivatives = [], trash } = {}) {
      const bytes = Buffer.from(`bytes of ${key}`)
      const record: OriginalRecord = {
        key,
        originalName: 'a.txt',
        mediaType: 'text/plain',
        size: bytes.length,
        sha256: sha256(bytes),
        storedAt: 1,
      }
      const { objects } = bucketOf(clientId)
      objects.set(key, bytes)
      objects.set(recordKey(key), serializeRecord(record, trash))
      for (const derivative of derivatives) objects.set(derivative, bytes)
      if (!indexed) return record
      await index.adopt(clientId, record, trash)
      for (const derivative of derivatives) {
        const stored = { key: derivative, mediaType: 'text/plain', size: bytes.length }
        await index.adoptDerivative({ clientId, key }, stored)
      }
      return record
    },

    async close() {
      await index.close()
      await ledger.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** The key of a text file with a number, in this folder. Keys sort as their numbers do. */
export function textKey(number: number, folder = 'a'): ObjectKey {
  const digits = String(number).padStart(22, '0')
  const id = digits.replace(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '')
  return storedKey(`${folder}/text/txt/${id}.txt`)
}

/** A bucket of these objects. */
export function inMemory(memory: ObjectsInMemory): Bucket {
  const called = async (call: string) => {
    memory.calls.push(call)
    await memory.before(call)
  }
  const tagOf = (bytes: Buffer) => sha256(bytes).slice(0, 32)
  async function* listObjects(prefix: string, { after = '' } = {}) {
    await called(`list ${prefix}`)
    const keys = [...memory.objects.keys()].sort(byBytes)
    for (const key of keys) {
      const bytes = memory.objects.get(key)
      if (bytes && key.startsWith(prefix) && byBytes(key, after) > 0)
        yield { key, size: bytes.length, tag: tagOf(bytes) }
    }
  }
  const bucket: Partial<Bucket> = {
    async find(key) {
      await called(`find ${key}`)
      const bytes = memory.objects.get(key)
      if (!bytes) return undefined
      const asset = assetFromBytes(bytes, { mediaType: 'text/plain', lastModified: new Date(0) })
      return { ...asset, tag: tagOf(bytes) }
    },
    async put(key, bytes, { tagged }) {
      await called(`put ${key}`)
      const stored = await buffer(bytes)
      memory.objects.set(key, stored)
      tagged?.(tagOf(stored))
    },
    abortPuts: async () => {},
    listObjects,
    async *list(prefix, options) {
      for await (const { key } of listObjects(prefix, options)) yield key
    },
    async delete(keys) {
      for (const key of keys) {
        await called(`delete ${key}`)
        memory.objects.delete(key)
      }
      return { failed: [] }
    },
  }
  return bucket as Bucket
}

import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { BackupProgress, BackupTrouble, RestoreReport } from '../../core/backup/report.ts'
import { FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { clientRecordPrefix, type ObjectKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { unlessStatus } from '../../core/problem.ts'
import {
  type Content,
  checkedBytes,
  DamagedBytes,
  damageOf,
  readable,
  UnreadableSource,
} from './checked-bytes.ts'
import type { Installation } from './installation.ts'
import { originalOf } from './kept.ts'
import {
  type BackupEntry,
  type BackupManifest,
  type BackupTotals,
  listManifests,
  readManifest,
} from './manifest.ts'
import { openObject } from './objects.ts'
import { isOutage, type Pause, persistently } from './persistence.ts'

/** Files of one client. */
export interface Selection {
  clientId: string
  /** Keys of originals, and folders that end with a slash. Empty: all files of the client. */
  keys: readonly string[]
}

export interface RestoreOptions {
  installation: Installation
  /** The backup. */
  source: Bucket
  /** Restores the newest backup that began at this time or before, in milliseconds since 1970. Undefined: the newest one. */
  at?: number | undefined
  /** Restores only these files, and no records of clients. Undefined: everything. */
  only?: Selection | undefined
  /** Whether files with other bytes are replaced. */
  overwrite: boolean
  signal: AbortSignal
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
  pause?: Pause | undefined
}

const AT_ONCE = 8

/** An object that the installation shall have. */
interface Wanted {
  client: string
  key: ObjectKey
  content: Content
  mediaType: string
}

type Outcome = 'present' | 'restored' | BackupTrouble['kind']
type Trouble = Pick<BackupTrouble, 'kind' | 'detail'>

/**
 * Copies the files of a backup into an installation, except those that it has. All bytes are compared with their SHA-256, also those
 * that the installation has. Nothing is deleted. The index is not changed.
 *
 * @throws Error when there is no such backup, or its manifest is damaged; Problem when the installation cannot be written;
 *   `signal.reason`
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const { installation, source, only, overwrite, signal, found, progress, pause } = options
  const manifest = await manifestAt(source, options.at)
  let totals: BackupTotals | undefined
  // The whole manifest is validated before anything is changed.
  for await (const _ of readManifest(source, manifest, { signal, ended: (sum) => (totals = sum) }));

  const counts = { restored: 0, present: 0, restoredBytes: 0 }
  const troubles = { differs: 0, missing: 0, damaged: 0, unreadable: 0 }
  let files = 0
  let outages = 0
  const report = async (trouble: BackupTrouble) => {
    troubles[trouble.kind] += 1
    await found(trouble)
  }

  /** @returns whether the bucket has the bytes now */
  async function restoreObject(bucket: Bucket, object: Wanted): Promise<Outcome> {
    const outcome = await persistently(() => attempt(bucket, object), { signal, pause }).catch(
      (error: Error) => error,
    )
    signal.throwIfAborted()
    const isUnavailable = isOutage(outcome)
    outages = isUnavailable ? outages + 1 : 0
    // One file that a store cannot read is reported. When no file can be read, the store is unavailable.
    if (isUnavailable && outages > AT_ONCE) throw outcome
    if (outcome === 'present' || outcome === 'restored') return outcome
    const trouble = outcome instanceof Error ? troubleOf(outcome) : outcome
    await report({ ...trouble, clientId: object.client, key: object.key })
    return trouble.kind
  }

  async function attempt(
    bucket: Bucket,
    { key, content, mediaType }: Wanted,
  ): Promise<'present' | 'restored' | Trouble> {
    const state = await readable(stateOf(bucket, { key, content, mediaType })).catch((error) => {
      signal.throwIfAborted()
      if (!overwrite || isOutage(error)) throw error
      return 'differs' as const
    })
    if (state === 'same') return 'present'
    if (state === 'differs' && !overwrite) return { kind: 'differs' }
    const bytes = await readable(openObject(source, content, signal))
    if (!bytes) return { kind: 'missing', detail: 'the backup does not have its bytes' }
    await bucket.put(key, checkedBytes(bytes, content), { mediaType, signal })
    counts.restoredBytes += content.size
    return 'restored'
  }

  async function stateOf(
    bucket: Bucket,
    { key, content, mediaType }: Omit<Wanted, 'client'>,
  ): Promise<'absent' | 'same' | 'differs'> {
    const existing = await bucket.find(key, { mediaType })
    if (!existing) return 'absent'
    if (existing.size !== content.size) return 'differs'
    // A running service may delete it in the meantime.
    const bytes = await unlessStatus(404, existing.open({ signal }))
    if (!bytes) return 'absent'
    return (await damageOf(bytes, content)) === undefined ? 'same' : 'differs'
  }

  async function restoreEntry(
    bucket: Bucket,
    { client, key, original, ...content }: BackupEntry,
  ): Promise<void> {
    const described = original && originalOf(key)
    const outcome = described && (await restoreObject(bucket, { client, content: original, ...described }))
    if (outcome !== undefined) {
      files += 1
      if (outcome !== 'restored' && outcome !== 'present') return
    }
    const ofRecord = await restoreObject(bucket, { client, key, content, mediaType: 'application/json' })
    if (outcome === 'restored' || outcome === 'present')
      counts[ofRecord === 'restored' ? 'restored' : outcome] += 1
  }

  async function restoreAll(
    entries: AsyncIterable<BackupEntry>,
    bucketOf: (id: string) => Promise<Bucket | undefined>,
  ) {
    const work = async (entry: BackupEntry) => {
      const bucket = await bucketOf(entry.client)
      if (bucket) await restoreEntry(bucket, entry)
    }
    for await (const _ of mapConcurrent(entries, { concurrency: AT_ONCE, signal, work }))
      await progress({ files, bytes: counts.restoredBytes, ...(totals ? { total: totals.files } : {}) })
  }

  const isClientRecord = ({ client, key }: BackupEntry) =>
    client === FIRST_CLIENT_ID && key.startsWith(clientRecordPrefix)
  const read = (isWanted: (entry: BackupEntry) => boolean) =>
    filtered(readManifest(source, manifest, { signal }), isWanted)
  // The records of clients name their own buckets.
  if (!only) await restoreAll(read(isClientRecord), async () => installation.first)
  const buckets = await usableBuckets(installation, report)
  await restoreAll(
    read((entry) => !isClientRecord(entry) && (!only || isSelected(entry, only))),
    buckets,
  )
  return { backup: new Date(manifest.at).toISOString(), files: totals?.files ?? 0, ...counts, ...troubles }
}

async function manifestAt(source: Bucket, at = Number.POSITIVE_INFINITY): Promise<BackupManifest> {
  const manifests = await listManifests(source)
  const [oldest] = manifests
  if (!oldest) throw new Error('there is no complete backup at this place')
  const found = manifests.findLast((one) => one.at <= at)
  if (found) return found
  const first = new Date(oldest.at).toISOString()
  throw new Error(`there is no backup of this time: the oldest one is of ${first}`)
}

/** The buckets by the IDs of clients. One that cannot be used is undefined, and is reported once. */
async function usableBuckets(
  installation: Installation,
  report: (trouble: BackupTrouble) => Promise<void>,
): Promise<(id: string) => Promise<Bucket | undefined>> {
  const buckets = new Map<string, Bucket | undefined>([[FIRST_CLIENT_ID, installation.first]])
  const unusable = async (clientId: string, detail: string) => {
    buckets.set(clientId, undefined)
    await report({ kind: 'unreadable', clientId, key: '/', detail })
  }
  // A client whose record is damaged or absent may have a bucket of its own: nothing tells which one.
  for (const client of await installation.clients(() => {})) {
    const bucket = installation.bucketOf(client)
    buckets.set(client.id, bucket)
    if (!client.storage) continue
    try {
      await bucket.list('.sluice/')[Symbol.asyncIterator]().next()
    } catch (error) {
      await unusable(client.id, (error as Error).message)
    }
  }
  return async (id) => {
    if (!buckets.has(id))
      await unusable(id, 'its record is missing or damaged, so nothing of it was restored')
    return buckets.get(id)
  }
}

function troubleOf(error: Error): Trouble {
  if (error instanceof DamagedBytes) return { kind: 'damaged', detail: error.message }
  if (error instanceof UnreadableSource) return { kind: 'unreadable', detail: error.message }
  throw error
}

function isSelected({ client, key }: BackupEntry, { clientId, keys }: Selection): boolean {
  if (client !== clientId) return false
  if (keys.length === 0) return true
  const original = originalOf(key)?.key
  return keys.some((one) => original === one || (one.endsWith('/') && original?.startsWith(one)))
}

async function* filtered<T>(items: AsyncIterable<T>, isWanted: (item: T) => boolean): AsyncGenerator<T> {
  for await (const item of items) if (isWanted(item)) yield item
}

import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { BackupProgress, BackupTrouble, RestoreReport } from '../../core/backup/report.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { clientRecordPrefix, type ObjectKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { type Content, checkedBytes, DamagedBytes, damageOf, UnreadableSource } from './checked-bytes.ts'
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

export interface RestoreOptions {
  installation: Installation
  /** The backup. */
  source: Bucket
  /** Restores the newest backup that began at this time or before, in milliseconds since 1970. Undefined: the newest one. */
  at?: number | undefined
  /** Whether files with other bytes are replaced. */
  overwrite: boolean
  signal: AbortSignal
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
}

const AT_ONCE = 8

/**
 * Copies the files of a backup into an installation, except those that it has. All bytes are compared with their SHA-256, also those
 * that the installation has. Nothing is deleted. The index is not changed.
 *
 * @throws Error when there is no such backup, or its manifest is damaged; Problem when the installation cannot be written;
 *   `signal.reason`
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const { installation, source, overwrite, signal, found, progress } = options
  const manifest = await manifestAt(source, options.at)
  let totals: BackupTotals | undefined
  // The whole manifest is validated before anything is changed.
  for await (const _ of readManifest(source, manifest, { signal, ended: (sum) => (totals = sum) }));

  const counts = { restored: 0, present: 0, restoredBytes: 0 }
  const troubles = { differs: 0, missing: 0, damaged: 0, unreadable: 0 }
  let files = 0
  const report = async (trouble: BackupTrouble) => {
    troubles[trouble.kind] += 1
    await found(trouble)
  }

  /** @returns whether the bucket has the bytes now */
  async function restoreObject(
    bucket: Bucket,
    {
      client: clientId,
      key,
      content,
      mediaType,
    }: { client: string; key: ObjectKey; content: Content; mediaType: string },
  ): Promise<'present' | 'restored' | BackupTrouble['kind']> {
    const trouble = async (kind: BackupTrouble['kind'], detail?: string) => {
      await report({ kind, clientId, key, ...(detail === undefined ? {} : { detail }) })
      return kind
    }
    const existing = await bucket.find(key, { mediaType })
    if (existing) {
      const isSame =
        existing.size === content.size &&
        (await damageOf(await existing.open({ signal }), content)) === undefined
      if (isSame) return 'present'
      if (!overwrite) return trouble('differs')
    }
    try {
      const bytes = await openObject(source, content, signal)
      if (!bytes) return await trouble('missing', 'the backup does not have its bytes')
      await bucket.put(key, checkedBytes(bytes, content), { mediaType, signal })
      counts.restoredBytes += content.size
      return 'restored'
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof DamagedBytes) return trouble('damaged', error.message)
      if (error instanceof UnreadableSource) return trouble('unreadable', error.message)
      throw error
    }
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
    bucketOf: (id: string) => Bucket | undefined,
  ) {
    const work = async (entry: BackupEntry) => {
      const bucket = bucketOf(entry.client)
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
  await restoreAll(read(isClientRecord), () => installation.first)
  const buckets = await usableBuckets(installation, report)
  await restoreAll(
    read((entry) => !isClientRecord(entry)),
    (id) => buckets(id),
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

/** The buckets by the IDs of clients. That of a client whose own bucket cannot be used is undefined, and is reported. */
async function usableBuckets(
  installation: Installation,
  report: (trouble: BackupTrouble) => Promise<void>,
): Promise<(id: string) => Bucket | undefined> {
  const unusable = new Set<string>()
  const own = new Map<string, Client>()
  for (const client of await installation.clients()) {
    if (!client.storage) continue
    own.set(client.id, client)
    try {
      await installation.bucketOf(client).list('.sluice/')[Symbol.asyncIterator]().next()
    } catch (error) {
      unusable.add(client.id)
      await report({ kind: 'unreadable', clientId: client.id, key: '/', detail: (error as Error).message })
    }
  }
  return (id) => (unusable.has(id) ? undefined : installation.bucketOf(own.get(id) ?? { id, token: '' }))
}

async function* filtered<T>(items: AsyncIterable<T>, isWanted: (item: T) => boolean): AsyncGenerator<T> {
  for await (const item of items) if (isWanted(item)) yield item
}

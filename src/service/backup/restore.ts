import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { BackupProgress, BackupTrouble, RestoreReport } from '../../core/backup/report.ts'
import { FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { clientRecordPrefix, type ObjectKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { unlessStatus } from '../../core/problem.ts'
import {
  type Content,
  checkedBytes,
  damageOf,
  MissingBytes,
  readable,
  storable,
  troubleKind,
} from './checked-bytes.ts'
import type { Installation } from './installation.ts'
import {
  type BackupEntry,
  type BackupManifest,
  type BackupTotals,
  listManifests,
  readManifest,
} from './manifest.ts'
import { openObject } from './objects.ts'
import { isOutage, persistently, type Waiting } from './persistence.ts'
import { originalOf } from './records.ts'

/** Files of one client. */
export interface Selection {
  clientId: string
  /** Keys of originals, and folders that end with a slash. Empty: all files of the client. */
  keys: readonly string[]
}

export interface RestoreOptions extends Waiting {
  installation: Installation
  /** The backup. */
  source: Bucket
  /** Restores the newest backup that began at this time or before, in milliseconds since 1970. Undefined: the newest one. */
  at?: number | undefined
  /** Restores only these files, and no records of clients. Undefined: everything. */
  only?: Selection | undefined
  /** Whether files with other bytes are replaced. */
  overwrite: boolean
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
}

const AT_ONCE = 8

/** An object that the installation shall have. */
interface Wanted {
  client: string
  key: ObjectKey
  content: Content
  mediaType: string
}

type Outcome = 'present' | 'restored' | 'differs'

/**
 * Copies the files of a backup into an installation, except those that it has. All bytes are compared with their SHA-256, also those
 * that the installation has. Nothing is deleted. The index is not changed.
 *
 * @throws Error when there is no such backup, or its manifest is damaged; Problem when the installation cannot be written;
 *   `signal.reason`
 */
export async function restore(options: RestoreOptions): Promise<RestoreReport> {
  const { installation, source, only, overwrite, signal, found, progress } = options
  const waiting: Waiting = { signal, pause: options.pause }
  const manifest = await manifestAt(source, options.at)
  let totals: BackupTotals | undefined
  const ended = (sum: BackupTotals) => {
    totals = sum
  }
  const unmatched = new Set(only?.keys)
  // The whole manifest is validated before anything is changed.
  for await (const entry of readManifest(source, manifest, { ...waiting, ended }))
    for (const key of only ? matchedBy(entry, only) : []) unmatched.delete(key)

  const counts = { restored: 0, present: 0, restoredBytes: 0 }
  const troubles = { differs: 0, missing: 0, damaged: 0, unreadable: 0, refused: 0 }
  let files = 0
  let outages = 0
  const report = async (trouble: BackupTrouble) => {
    troubles[trouble.kind] += 1
    await found(trouble)
  }

  /** @returns undefined after a reported error */
  async function restoreObject(bucket: Bucket, object: Wanted): Promise<Outcome | undefined> {
    const place = { clientId: object.client, key: object.key }
    try {
      const outcome = await persistently(() => attempt(bucket, object), waiting)
      outages = 0
      if (outcome === 'differs') await report({ kind: outcome, ...place })
      return outcome
    } catch (error) {
      signal.throwIfAborted()
      // One file that a store cannot read is reported. When no file can be read, the store is unavailable.
      outages = isOutage(error) ? outages + 1 : 0
      if (outages > AT_ONCE) throw error
      await report({ kind: troubleKind(error), ...place, detail: (error as Error).message })
      return undefined
    }
  }

  async function attempt(bucket: Bucket, { key, content, mediaType }: Wanted): Promise<Outcome> {
    const state = await readable(stateOf(bucket, { key, content, mediaType })).catch((error) => {
      signal.throwIfAborted()
      if (!overwrite || isOutage(error)) throw error
      return 'differs' as const
    })
    if (state === 'present' || (state === 'differs' && !overwrite)) return state
    const bytes = await readable(openObject(source, content, signal))
    if (!bytes) throw new MissingBytes('the backup does not have its bytes')
    await storable(bucket.put(key, checkedBytes(bytes, content), { mediaType, signal }))
    counts.restoredBytes += content.size
    return 'restored'
  }

  async function stateOf(
    bucket: Bucket,
    { key, content, mediaType }: Omit<Wanted, 'client'>,
  ): Promise<'absent' | 'present' | 'differs'> {
    const existing = await bucket.find(key, { mediaType })
    if (!existing) return 'absent'
    if (existing.size !== content.size) return 'differs'
    // A running service may delete it in the meantime.
    const bytes = await unlessStatus(404, existing.open({ signal }))
    if (!bytes) return 'absent'
    return (await damageOf(bytes, content)) === undefined ? 'present' : 'differs'
  }

  async function restoreEntry(
    bucket: Bucket,
    { client, key, original, ...content }: BackupEntry,
  ): Promise<void> {
    const described = originalOf(key)
    const record = { client, key, content, mediaType: 'application/json' }
    if (!original || !described) return void (await restoreObject(bucket, record))
    files += 1
    const { mediaType = described.mediaType } = original
    const wanted = { client, key: described.key, content: original, mediaType }
    const outcome = await restoreObject(bucket, wanted)
    // A record is put after its original, as an upload does it.
    if (outcome === 'restored' || outcome === 'present') {
      const ofRecord = await restoreObject(bucket, record)
      counts[ofRecord === 'restored' ? ofRecord : outcome] += 1
    }
  }

  async function restoreAll(
    isWanted: (entry: BackupEntry) => boolean,
    bucketOf: (id: string) => Promise<Bucket | undefined>,
  ) {
    const work = async (entry: BackupEntry) => {
      const bucket = isWanted(entry) ? await bucketOf(entry.client) : undefined
      if (bucket) await restoreEntry(bucket, entry)
    }
    const entries = readManifest(source, manifest, waiting)
    const total = only ? undefined : totals?.files
    for await (const _ of mapConcurrent(entries, { concurrency: AT_ONCE, signal, work }))
      await progress({ files, bytes: counts.restoredBytes, done: 'copied', total })
  }

  const isClientRecord = ({ client, key }: BackupEntry) =>
    client === FIRST_CLIENT_ID && key.startsWith(clientRecordPrefix)
  for (const key of unmatched)
    await report({ kind: 'missing', clientId: only?.clientId ?? '', key, detail: 'not in this backup' })
  // The records of clients name their own buckets.
  if (!only) await restoreAll(isClientRecord, async () => installation.first)
  const isSelected = (entry: BackupEntry) =>
    !only || (only.keys.length > 0 ? matchedBy(entry, only).length > 0 : entry.client === only.clientId)
  await restoreAll(
    (entry) => !isClientRecord(entry) && isSelected(entry),
    await usableBuckets(installation, report),
  )
  return {
    backup: new Date(manifest.at).toISOString(),
    files,
    ...counts,
    ...troubles,
    notCopied: totals?.notCopied ?? 0,
  }
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

/** The selected keys and folders that an entry belongs to. */
function matchedBy({ client, key }: BackupEntry, { clientId, keys }: Selection): string[] {
  const original = client === clientId ? originalOf(key)?.key : undefined
  return keys.filter((one) => original === one || (one.endsWith('/') && original?.startsWith(one)))
}

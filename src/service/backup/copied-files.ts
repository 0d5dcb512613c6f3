import { Readable } from 'node:stream'
import type { BackupTrouble } from '../../core/backup/report.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, RECORDS } from '../../core/files/object-key.ts'
import type { Bucket, ListedObject } from '../../core/ports/bucket.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { inOrder, withoutOwnObjects } from '../maintenance/comparison/listing.ts'
import { type Content, DamagedBytes, MissingBytes, readable, troubleKind } from './checked-bytes.ts'
import type { EarlierEntries } from './earlier-entries.ts'
import type { BackupEntry } from './manifest.ts'
import type { BackupObjects } from './objects.ts'
import { persistentLists, persistently, type Waiting } from './persistence.ts'
import { contentIn, isRecord, originalOf } from './records.ts'

/** A record in the bucket, and its entry in the previous backup. */
export interface ListedRecord {
  object: ListedObject
  /** The size of its original in the list, in bytes. Undefined when the list has none, or the record is of another kind. */
  originalSize: number | undefined
  before: BackupEntry | undefined
}

/** The records of a client, in the order of their keys. @throws UnreadableSource when its bucket cannot be listed */
export async function* listedRecords(
  { id, storage }: Client,
  { bucket, previous, ...waiting }: Waiting & { bucket: Bucket; previous: EarlierEntries<BackupEntry> },
): AsyncGenerator<ListedRecord> {
  const lists = persistentLists(bucket, { ...waiting, isOwn: storage !== undefined })
  const records = inOrder(lists.listObjects(`${RECORDS}/`), '')
  const others = withoutOwnObjects(lists, '')
  let next: ListedObject | undefined
  let isListed = false
  async function sizeOf(key: ObjectKey): Promise<number | undefined> {
    while (!isListed && (!next || byBytes(next.key, key) < 0)) {
      const { value, done } = await readable(others.next())
      next = done ? undefined : value
      isListed = done === true
    }
    return next?.key === key ? next.size : undefined
  }
  try {
    for (;;) {
      const { value: object, done } = await readable(records.next())
      if (done) return
      if (!isRecord(object.key)) continue
      const original = originalOf(object.key)
      const originalSize = original && (await sizeOf(original.key))
      yield { object, originalSize, before: await previous.at({ client: id, key: object.key }) }
    }
  } finally {
    await others.return(undefined)
    await records.return(undefined)
  }
}

export interface Copying extends Waiting {
  objects: BackupObjects
  bucket: Bucket
  client: Client
  report(trouble: BackupTrouble): Promise<void>
  counts: { new: number; unchanged: number; records: number; copiedBytes: number }
}

/** Copies a record and its original. @returns its entry; when it cannot be copied, its earlier one; undefined when it was deleted */
export async function entryOf(record: ListedRecord, copying: Copying): Promise<BackupEntry | undefined> {
  const { objects, bucket, client, signal, report } = copying
  const { object, before } = record
  try {
    return await persistently(() => copied(record, copying), copying)
  } catch (error) {
    signal.throwIfAborted()
    const kind = troubleKind(error)
    // Since it was listed, the file may have been deleted.
    if (!(await bucket.find(object.key).catch(() => true))) return undefined
    const key = originalOf(object.key)?.key ?? object.key
    await report({ kind, clientId: client.id, key, detail: (error as Error).message })
    return before && objects.hasAll(before) ? before : undefined
  }
}

async function copied(
  { object, originalSize, before }: ListedRecord,
  { objects, bucket, client, signal, counts }: Copying,
): Promise<BackupEntry | undefined> {
  const { key } = object
  const original = originalOf(key)
  if (before?.tag !== undefined && before.tag === object.tag && objects.hasAll(before)) {
    if (original && before.original && originalSize !== before.original.size)
      await examine(bucket, original, before.original)
    if (before.original) counts.unchanged += 1
    return before
  }
  const record = await readable(snapshot(bucket, key))
  if (!record) return undefined
  const described = original && contentIn(record.bytes)
  if (original && !described) throw new DamagedBytes('its record is not that of an original')
  if (original && described && !objects.has(described)) {
    const asset = await readable(bucket.find(original.key, original))
    if (!asset) throw new MissingBytes('the service does not have its bytes')
    await objects.put(described, await readable(asset.open({ signal })), signal)
    counts.copiedBytes += described.size
  }
  const content = { size: record.size, sha256: sha256(record.bytes) }
  if (!objects.has(content)) {
    await objects.put(content, Readable.from([record.bytes]), signal)
    counts.copiedBytes += content.size
  }
  if (content.sha256 !== before?.sha256) counts.records += 1
  if (described) counts[before?.original?.sha256 === described.sha256 ? 'unchanged' : 'new'] += 1
  return {
    client: client.id,
    key,
    ...content,
    ...(record.tag === undefined ? {} : { tag: record.tag }),
    ...(described ? { original: described } : {}),
  }
}

/** Keys of which one begins with the other may be in another order in the list than their records: so the list is not enough. */
async function examine(
  bucket: Bucket,
  original: { key: ObjectKey; mediaType: string },
  { size }: Content,
): Promise<void> {
  const asset = await readable(bucket.find(original.key, original))
  if (!asset) throw new MissingBytes('in the service; the backup has it')
  if (asset.size !== size)
    throw new DamagedBytes(`${asset.size} of ${size} bytes in the service; the backup has it`)
}

import { Readable } from 'node:stream'
import type { BackupTrouble } from '../../core/backup/report.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Bucket, ListedObject } from '../../core/ports/bucket.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { inOrder, withoutOwnObjects } from '../maintenance/comparison/listing.ts'
import { DamagedBytes, readable, UnreadableSource } from './checked-bytes.ts'
import { contentIn, isKept, KEPT_PREFIX, originalOf } from './kept.ts'
import type { BackupEntry } from './manifest.ts'
import type { BackupObjects } from './objects.ts'
import type { PreviousEntries } from './previous.ts'

/** A record in the bucket, and its entry in the previous backup. */
export interface Pair {
  object: ListedObject
  /** The size of its original in the list, in bytes. Undefined when the list has none, or the record is of another kind. */
  originalSize: number | undefined
  before: BackupEntry | undefined
}

/** The records of a client. @throws UnreadableSource when its bucket cannot be listed */
export async function* pairs(
  { id }: Client,
  { bucket, previous }: { bucket: Bucket; previous: PreviousEntries },
): AsyncGenerator<Pair> {
  const records = inOrder(bucket.listObjects(KEPT_PREFIX), '')
  const objects = withoutOwnObjects(bucket, '')
  let next: ListedObject | undefined
  let isListed = false
  async function sizeOf(key: ObjectKey): Promise<number | undefined> {
    while (!isListed && (!next || byBytes(next.key, key) < 0)) {
      const { value, done } = await readable(objects.next())
      next = done ? undefined : value
      isListed = done === true
    }
    return next?.key === key ? next.size : undefined
  }
  try {
    for (;;) {
      const { value: object, done } = await readable(records.next())
      if (done) return
      if (!isKept(object.key)) continue
      const original = originalOf(object.key)
      const originalSize = original && (await sizeOf(original.key))
      yield { object, originalSize, before: await previous.at({ client: id, key: object.key }) }
    }
  } finally {
    await objects.return(undefined)
    await records.return(undefined)
  }
}

export interface Copying {
  objects: BackupObjects
  bucket: Bucket
  client: Client
  signal: AbortSignal
  report(trouble: BackupTrouble): Promise<void>
  counts: { new: number; unchanged: number; records: number; copiedBytes: number }
}

/** The entry of a record, after its content and that of its original were copied. Undefined when it was deleted, or cannot be copied. */
export async function entryOf(
  { object, originalSize, before }: Pair,
  copying: Copying,
): Promise<BackupEntry | undefined> {
  const { objects, bucket, client, signal, report, counts } = copying
  const { key } = object
  const target = originalOf(key)
  const has = (entry: BackupEntry) => objects.has(entry) && (!entry.original || objects.has(entry.original))
  const trouble = async (kind: BackupTrouble['kind'], key: string, detail?: string) => {
    // Since it was listed, the file may have been deleted.
    if (!(await bucket.find(object.key).catch(() => true))) return undefined
    await report({ kind, clientId: client.id, key, ...(detail === undefined ? {} : { detail }) })
    return before && has(before) ? before : undefined
  }
  if (before?.tag !== undefined && before.tag === object.tag && has(before)) {
    const { original } = before
    if (target && original && originalSize !== original.size) {
      // Keys of which one begins with the other may be in another order in the list than their records.
      const asset = await bucket.find(target.key, target).catch((error: Error) => error)
      signal.throwIfAborted()
      if (asset instanceof Error) return trouble('unreadable', target.key, asset.message)
      if (!asset) return trouble('missing', target.key, 'the backup has it')
      if (asset.size !== original.size)
        return trouble('damaged', target.key, `${asset.size} of ${original.size} bytes; the backup has it`)
    }
    if (original) counts.unchanged += 1
    return before
  }
  const record = await snapshot(bucket, key).catch((error: Error) => error)
  signal.throwIfAborted()
  if (record instanceof Error) return trouble('unreadable', key, record.message)
  if (!record) return undefined
  const original = target && contentIn(record.bytes)
  if (target && !original) return trouble('damaged', key, 'not the record of an original')
  if (target && original && !objects.has(original)) {
    try {
      const asset = await readable(bucket.find(target.key, target))
      if (!asset) return await trouble('missing', target.key)
      await objects.put(original, await readable(asset.open({ signal })), signal)
      counts.copiedBytes += original.size
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof DamagedBytes) return trouble('damaged', target.key, error.message)
      if (error instanceof UnreadableSource) return trouble('unreadable', target.key, error.message)
      throw error
    }
  }
  const content = { size: record.size, sha256: sha256(record.bytes) }
  if (!objects.has(content)) {
    await objects.put(content, Readable.from([record.bytes]), signal)
    counts.copiedBytes += content.size
  }
  if (content.sha256 !== before?.sha256) counts.records += 1
  if (original) counts[before?.original?.sha256 === original.sha256 ? 'unchanged' : 'new'] += 1
  return {
    client: client.id,
    key,
    ...content,
    ...(record.tag === undefined ? {} : { tag: record.tag }),
    ...(original ? { original } : {}),
  }
}

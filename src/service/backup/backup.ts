import { Readable } from 'node:stream'
import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { BackupProgress, BackupReport, BackupTrouble } from '../../core/backup/report.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Client } from '../../core/clients/client.ts'
import type { Bucket, ListedObject } from '../../core/ports/bucket.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { noClients } from '../maintenance/each-client.ts'
import { DamagedBytes, UnreadableSource } from './checked-bytes.ts'
import { expireBackups } from './expire.ts'
import type { Installation } from './installation.ts'
import { contentIn, isKept, KEPT_PREFIX, originalOf } from './kept.ts'
import {
  type BackupEntry,
  type BackupManifest,
  byClient,
  DamagedManifest,
  listManifests,
  readManifest,
  writeManifest,
} from './manifest.ts'
import { type BackupObjects, openObjects } from './objects.ts'
import { entriesFrom, type PreviousEntries } from './previous.ts'

export interface BackupOptions {
  installation: Installation
  target: Bucket
  /** Reads all objects of the backup, and each one that is added, and compares their SHA-256. */
  verify: boolean
  /** Deletes backups that are older, except the newest one, and the objects that only they use. Undefined: deletes nothing. */
  keepMs?: number | undefined
  signal: AbortSignal
  found(trouble: BackupTrouble): Promise<void>
  progress(progress: BackupProgress): Promise<void>
  now?: () => number
}

// Enough to hide the latency of S3, few enough that deliveries are not slowed down.
const AT_ONCE = 8

/**
 * Copies the records and originals of all clients, unless the target has them. The service may run: each record is copied as it
 * is at one moment, with its original, which never changes. Derivatives are left out, since they can be rendered again.
 *
 * What an interrupted run has copied is not copied again. A file that cannot be copied is reported, and an earlier copy of it
 * remains in the backup.
 *
 * @throws Problem or Error when the installation has no clients, or the target cannot be used; `signal.reason`
 */
export async function backUp(options: BackupOptions): Promise<BackupReport> {
  const { installation, target, verify, keepMs, signal, found, progress, now = Date.now } = options
  const at = now()
  const counts = { new: 0, unchanged: 0, deleted: 0, records: 0, copiedBytes: 0 }
  const troubles = { missing: 0, damaged: 0, unreadable: 0, differs: 0 }
  const report = async (trouble: BackupTrouble) => {
    troubles[trouble.kind] += 1
    await found(trouble)
  }
  let verified = 0
  const damagedObjects: BackupTrouble[] = []
  const clients = [...(await installation.clients())].sort((one, other) => byClient(one.id, other.id))
  if (clients.length === 0) throw noClients()
  const objects = await openObjects(target, {
    verify,
    signal,
    now,
    damaged: ({ key, detail }) => damagedObjects.push({ kind: 'damaged', key, detail }),
    async verified() {
      verified += 1
      await progress({ files: verified, bytes: 0 })
    },
  })
  for (const trouble of damagedObjects) await report(trouble)

  let files = 0
  const unavailable = new Set<string>()
  const { last, total } = await lastIntact(target, { signal, report })
  const previous = entriesFrom(last ? readManifest(target, last, { signal }) : [], (entry) => {
    if (entry.original && !unavailable.has(entry.client)) counts.deleted += 1
  })

  async function* entries(): AsyncGenerator<BackupEntry> {
    for (const client of clients) {
      let done = ''
      try {
        const bucket = installation.bucketOf(client)
        const copying = { objects, bucket, client, signal, report, counts }
        const work = (pair: Pair) => entryOf(pair, copying)
        for await (const entry of mapConcurrent(pairs(client, { bucket, previous }), {
          concurrency: AT_ONCE,
          signal,
          work,
        })) {
          if (!entry) continue
          done = entry.key
          if (entry.original) files += 1
          yield entry
          await progress({ files, bytes: counts.copiedBytes, ...(total === undefined ? {} : { total }) })
        }
      } catch (error) {
        signal.throwIfAborted()
        if (!(error instanceof UnreadableSource)) throw error
        unavailable.add(client.id)
        await report({ kind: 'unreadable', clientId: client.id, key: '/', detail: error.message })
        // The earlier copies of its files remain in this backup.
        if (last)
          for await (const entry of readManifest(target, last, { signal }))
            if (entry.client === client.id && byBytes(entry.key, done) > 0) yield entry
      }
    }
    await previous.end()
  }

  const totals = await writeManifest(target, { at, entries: entries(), signal })
  const expired =
    keepMs === undefined ? undefined : await expireBackups(target, { objects, keepMs, signal, now })
  const { differs: _, ...problems } = troubles
  return {
    backup: new Date(at).toISOString(),
    files: totals.files,
    bytes: totals.bytes,
    ...counts,
    ...problems,
    ...(verify ? { verified } : {}),
    ...(expired ? { expired } : {}),
  }
}

/** The newest manifest that can be read, and its number of files. A damaged one is reported. @throws Error for a newer version */
async function lastIntact(
  target: Bucket,
  { signal, report }: { signal: AbortSignal; report(trouble: BackupTrouble): Promise<void> },
): Promise<{ last?: BackupManifest; total?: number }> {
  for (const last of (await listManifests(target)).reverse()) {
    try {
      let total = 0
      const reading = readManifest(target, last, { signal, ended: ({ files }) => (total = files) })
      for await (const _ of reading);
      return { last, total }
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof DamagedManifest)) throw error
      await report({ kind: 'damaged', key: last.key, detail: 'a manifest; an older one is used' })
    }
  }
  return {}
}

/** A record in the bucket, and its entry in the previous backup. */
interface Pair {
  object: ListedObject
  before: BackupEntry | undefined
}

async function* pairs(
  { id }: Client,
  { bucket, previous }: { bucket: Bucket; previous: PreviousEntries },
): AsyncGenerator<Pair> {
  const listed = bucket.listObjects(KEPT_PREFIX)[Symbol.asyncIterator]()
  for (;;) {
    const { value: object, done } = await listed.next().catch((error) => {
      throw new UnreadableSource(error)
    })
    if (done) return
    if (isKept(object.key)) yield { object, before: await previous.at({ client: id, key: object.key }) }
  }
}

interface Copying {
  objects: BackupObjects
  bucket: Bucket
  client: Client
  signal: AbortSignal
  report(trouble: BackupTrouble): Promise<void>
  counts: { new: number; unchanged: number; records: number; copiedBytes: number }
}

/** The entry of a record, after its content and that of its original were copied. Undefined when it was deleted, or cannot be copied. */
async function entryOf({ object, before }: Pair, copying: Copying): Promise<BackupEntry | undefined> {
  const { objects, bucket, client, signal, report, counts } = copying
  const has = (entry: BackupEntry) => objects.has(entry) && (!entry.original || objects.has(entry.original))
  if (before?.tag !== undefined && before.tag === object.tag && has(before)) {
    if (before.original) counts.unchanged += 1
    return before
  }
  const trouble = async (kind: BackupTrouble['kind'], key: string, detail?: string) => {
    await report({ kind, clientId: client.id, key, ...(detail === undefined ? {} : { detail }) })
    return before && has(before) ? before : undefined
  }
  const { key } = object
  const record = await snapshot(bucket, key).catch((error: Error) => error)
  signal.throwIfAborted()
  if (record instanceof Error) return trouble('unreadable', key, record.message)
  if (!record) return undefined
  const target = originalOf(key)
  const original = target && contentIn(record.bytes)
  if (target && !original) return trouble('damaged', key, 'not the record of an original')
  if (target && original && !objects.has(original)) {
    try {
      const asset = await readable(bucket.find(target.key, target))
      if (!asset) {
        // Since it was listed, the file may have been deleted.
        const isDeleted = (await readable(bucket.find(key))) === undefined
        return isDeleted ? undefined : await trouble('missing', target.key)
      }
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

async function readable<T>(work: Promise<T>): Promise<T> {
  return work.catch((error) => {
    throw new UnreadableSource(error)
  })
}

import { z } from 'zod'
import { type Asset, readAll } from '../core/asset.ts'
import type { Client } from '../core/client.ts'
import { type ObjectKey, type OriginalName, type PathMeanings, recordKey } from '../core/object-key.ts'
import type { Buckets } from '../core/ports/bucket.ts'
import type { EventBus } from '../core/ports/event-bus.ts'
import type { FileIndex, OriginalEntry, OriginalRecord } from '../core/ports/file-index.ts'
import { unlessStatus } from '../core/problem.ts'

/** An original that can be delivered. */
export interface FoundOriginal {
  name: OriginalName
  record: OriginalRecord
}

const storedRecord = z.object({
  originalName: z.string(),
  mediaType: z.string(),
  size: z.int().min(0),
  sha256: z.string(),
  storedAt: z.number(),
})

export type ResolvedOriginal = FoundOriginal & {
  /** When the path named a derivative of it. */
  variant?: string
}

/** A part's key, and that of its derivative. */
export interface PartKey {
  key: ObjectKey
  derivative: ObjectKey
}

/** Finds originals by what a path may mean. */
export interface Originals {
  /**
   * The first meaning that is a stored original.
   * @throws Problem 503 when the index or the bucket cannot be asked
   */
  resolve(client: Client, meanings: PathMeanings): Promise<ResolvedOriginal | undefined>
  /** The same for those who only read: while the index cannot be asked, the bucket alone is. */
  resolveToRead(client: Client, meanings: PathMeanings): Promise<ResolvedOriginal | undefined>
  /**
   * The bytes of a stored derivative; one that the bucket holds and the index has lost is taken in again. While the
   * index cannot be asked, the bucket alone is.
   */
  derivativeToRead(client: Client, original: ObjectKey, derivative: ObjectKey): Promise<Asset | undefined>
  /** The bytes of a part of a stored derivative. */
  partToRead(client: Client, original: ObjectKey, part: PartKey): Promise<Asset | undefined>
  /**
   * `pending` → `stored`, if all of it is in the bucket: a record is written after all bytes of its form, so its sender
   * may have been told that it is stored. Does no harm beside an uploader who is only slow.
   * @returns the record, or undefined when it is not all there or somebody took it away
   */
  commit(client: Client, key: ObjectKey): Promise<OriginalRecord | undefined>
}

type Find = (client: Client, name: OriginalName) => Promise<FoundOriginal | undefined>

export function createOriginals({
  index,
  buckets,
  events,
}: {
  index: FileIndex
  buckets: Buckets
  events: EventBus
}): Originals {
  const find: Find = async (client, name) => {
    const ref = { clientId: client.id, key: name.key }
    const entry = (await index.find(ref)).original ?? (await adopt(client, name))
    const record = entry?.state === 'pending' ? await commit(client, name.key) : recordOf(entry)
    return record && { name, record }
  }

  const findToRead: Find = async (client, name) => {
    const known = await unlessAway(index.find({ clientId: client.id, key: name.key }))
    if (known?.original?.state === 'stored') return { name, record: known.original.record }
    // It may answer and take nothing in: a Redis that is full.
    const taken = known && (await unlessAway(find(client, name).then((found) => ({ found }))))
    if (taken) return taken.found
    const record = await recordInBucket(client, name.key)
    return record && { name, record }
  }

  /** An original that the bucket holds and the index has lost: its record says that its upload had come to the end. */
  async function adopt(client: Client, { key }: OriginalName) {
    const record = await recordInBucket(client, key)
    if (!record) return undefined
    const entry = await index.adopt(client.id, record)
    if (await buckets.of(client).find(key)) return entry
    // A delete has begun and ended in between: the entry came after its end.
    const ref = { clientId: client.id, key }
    await index.beginRemoval(ref, { cause: 'delete', leaseUntil: 0, now: 0 })
    await index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    return undefined
  }

  async function commit(client: Client, key: ObjectKey): Promise<OriginalRecord | undefined> {
    const record = await recordInBucket(client, key)
    if (!record || !(await index.finishUpload(client.id, [record]))) return undefined
    tellStored(events, client, record)
    return record
  }

  /** The record of an original whose bytes are there. */
  async function recordInBucket(client: Client, key: ObjectKey): Promise<OriginalRecord | undefined> {
    const bucket = buckets.of(client)
    const record = await bucket.find(recordKey(key))
    if (!record || !(await bucket.find(key))) return undefined
    const bytes = await unlessGone(readAll(record))
    return bytes && parseRecord(key, bytes)
  }

  async function firstOf(by: Find, client: Client, { full, short }: PathMeanings) {
    const found = full && (await by(client, full))
    if (found) return full.variant === undefined ? found : { ...found, variant: full.variant }
    return short && short.key !== full?.key ? by(client, short) : undefined
  }

  const originals: Originals = {
    resolve: (client, meanings) => firstOf(find, client, meanings),
    resolveToRead: (client, meanings) => firstOf(findToRead, client, meanings),
    async derivativeToRead(client, key, derivative) {
      const ref = { clientId: client.id, key }
      const bucket = buckets.of(client)
      const known = await unlessAway(index.find(ref, derivative))
      const entry = known?.derivative
      if (entry) return entry.state === 'stored' ? bucket.find(derivative, entry.record) : undefined
      const asset = await bucket.find(derivative)
      if (!asset || !known) return asset
      const { mediaType, size } = asset
      const adopted = index.adoptDerivative(ref, { key: derivative, mediaType, size })
      const now = await unlessAway(adopted.then((taken) => ({ taken })))
      // Begun anew since we looked, or its original is going: these bytes are not it any more.
      return !now || now.taken?.state === 'stored' ? asset : undefined
    },
    async partToRead(client, original, { key, derivative }) {
      if (!(await originals.derivativeToRead(client, original, derivative))) return undefined
      return buckets.of(client).find(key)
    },
    commit,
  }
  return originals
}

/** Tells that an original is stored; some are told of twice. */
export function tellStored(events: EventBus, { id }: Client, record: OriginalRecord): void {
  const { key, originalName, mediaType, size, sha256 } = record
  events.emit('original.stored', { clientId: id, key, originalName, mediaType, size, sha256 })
}

function recordOf(entry: OriginalEntry | undefined): OriginalRecord | undefined {
  return entry?.state === 'stored' ? entry.record : undefined
}

/** What the index answers, or undefined while it cannot be asked. */
function unlessAway<T>(answer: Promise<T>): Promise<T | undefined> {
  return unlessStatus(503, answer)
}

/** Undefined when it has been deleted since it was found. */
function unlessGone<T>(bytes: Promise<T>): Promise<T | undefined> {
  return unlessStatus(404, bytes)
}

/** An original's record as it lies in the bucket. */
export function serializeRecord(record: OriginalRecord): Buffer {
  return Buffer.from(JSON.stringify(record))
}

/** @throws Error that names the record when it is none */
function parseRecord(key: ObjectKey, bytes: Buffer): OriginalRecord {
  try {
    return { ...storedRecord.parse(JSON.parse(bytes.toString('utf8'))), key }
  } catch (cause) {
    throw new Error(`${recordKey(key)}: expected an original's record; restore it or remove it`, { cause })
  }
}

import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, type OriginalName, recordKey } from '../../core/files/object-key.ts'
import { type PathCandidates, readCandidates } from '../../core/files/request-path.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type {
  DerivativeIndex,
  OriginalEntry,
  OriginalIndex,
  OriginalRecord,
  Trash,
} from '../../core/ports/file-index.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import {
  createStoredDerivatives,
  type IndexedDerivative,
  type StoredDerivatives,
  unlessAway,
} from './stored-derivatives.ts'

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
  truncated: z.literal(true).optional(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  trash: z.object({ at: z.number(), until: z.number() }).optional(),
})

/** What the bucket says of an original. */
export interface BucketRecord {
  record: OriginalRecord
  /** When it has been thrown away. */
  trash?: Trash
}

export type ResolvedOriginal = FoundOriginal & {
  /** When the path named a derivative of it. */
  variant?: string
}

/** An original, and what the index knows of one of its derivatives. */
export interface OriginalToRead extends FoundOriginal {
  /** Absent when no derivative was requested, or when the index did not answer at once that the original is stored. */
  indexed?: IndexedDerivative
}

/** Finds originals by what a path may mean. */
export interface Originals extends StoredDerivatives {
  /**
   * The first meaning that is a stored original.
   * @throws Problem 503 when the index or the bucket cannot be asked
   */
  resolve(client: Client, meanings: PathCandidates): Promise<ResolvedOriginal | undefined>
  /** The same for those who only read: while the index cannot be asked, the bucket alone is. */
  resolveToRead(client: Client, meanings: PathCandidates): Promise<ResolvedOriginal | undefined>
  /** The same for one candidate. The same read of the index also returns what it knows of `derivative`. */
  findToRead(client: Client, name: OriginalName, derivative?: ObjectKey): Promise<OriginalToRead | undefined>
  /**
   * `pending` → `stored`, if all of it is in the bucket: a record is written after all bytes of its form, so its sender
   * may have been told that it is stored. Does no harm beside an uploader who is only slow.
   * @returns the record, or undefined when it is not all there or somebody took it away
   */
  commit(client: Client, key: ObjectKey): Promise<OriginalRecord | undefined>
  /** What the bucket says of an original whose bytes are there: the truth, where the index says another thing. */
  inBucket(client: Client, key: ObjectKey): Promise<BucketRecord | undefined>
}

type Find = (client: Client, name: OriginalName) => Promise<FoundOriginal | undefined>

export function createOriginals({
  index,
  buckets,
  events,
}: {
  index: OriginalIndex & DerivativeIndex
  buckets: Buckets
  events: EventBus
}): Originals {
  const find: Find = async (client, name) => {
    const ref = { clientId: client.id, key: name.key }
    const entry = (await index.find(ref)).original ?? (await adopt(client, name))
    const record = entry?.state === 'pending' ? await commit(client, name.key) : recordOf(entry)
    return record && { name, record }
  }

  const findToRead: Originals['findToRead'] = async (client, name, derivative) => {
    const known = await unlessAway(index.find({ clientId: client.id, key: name.key }, derivative))
    if (known?.original?.state === 'stored') {
      const found = { name, record: known.original.record }
      return derivative === undefined ? found : { ...found, indexed: known }
    }
    // It may answer and take nothing in: a Redis that is full.
    const taken = known && (await unlessAway(find(client, name).then((found) => ({ found }))))
    if (taken) return taken.found
    const found = await inBucket(client, name.key)
    return found && !found.trash ? { name, record: found.record } : undefined
  }

  /** An original that the bucket holds and the index has lost: its record says that its upload had come to the end. */
  async function adopt(client: Client, { key }: OriginalName) {
    const found = await inBucket(client, key)
    if (!found) return undefined
    const entry = await index.adopt(client.id, found.record, found.trash)
    if (await buckets.of(client).find(key)) return entry
    // A delete has begun and ended in between: the entry came after its end.
    const ref = { clientId: client.id, key }
    await index.beginRemoval(ref, { cause: 'purge', leaseUntil: 0, now: 0 })
    await index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    return undefined
  }

  async function commit(client: Client, key: ObjectKey): Promise<OriginalRecord | undefined> {
    const found = await inBucket(client, key)
    if (!found || !(await index.finishUpload(client.id, [found.record]))) return undefined
    const { record, trash } = found
    if (trash) {
      await index.trash({ clientId: client.id, key }, trash)
      return undefined
    }
    tellStored(events, client, record)
    return record
  }

  async function inBucket(client: Client, key: ObjectKey): Promise<BucketRecord | undefined> {
    const bucket = buckets.of(client)
    const record = await snapshot(bucket, recordKey(key))
    return record && (await bucket.find(key)) && parseRecord(key, record.bytes)
  }

  async function firstOf(by: Find, client: Client, candidates: PathCandidates) {
    for (const { variant, ...name } of readCandidates(candidates)) {
      const found = await by(client, name)
      if (found) return variant === undefined ? found : { ...found, variant }
    }
    return undefined
  }

  return {
    resolve: (client, meanings) => firstOf(find, client, meanings),
    resolveToRead: (client, meanings) => firstOf(findToRead, client, meanings),
    findToRead,
    ...createStoredDerivatives({ index, buckets }),
    commit,
    inBucket,
  }
}

/** Tells that an original is stored; some are told of twice. */
export function tellStored(events: EventBus, { id }: Client, record: OriginalRecord): void {
  const { key, originalName, mediaType, size, sha256 } = record
  events.emit('original.stored', { clientId: id, key, originalName, mediaType, size, sha256 })
}

function recordOf(entry: OriginalEntry | undefined): OriginalRecord | undefined {
  return entry?.state === 'stored' ? entry.record : undefined
}

/** @throws Error that names the record when it is none */
function parseRecord(key: ObjectKey, bytes: Buffer): BucketRecord {
  try {
    const { trash, truncated, tags, metadata, ...rest } = storedRecord.parse(
      JSON.parse(bytes.toString('utf8')),
    )
    const said = { ...(tags ? { tags } : {}), ...(metadata ? { metadata } : {}) }
    const record = { ...rest, key, ...(truncated ? { truncated } : {}), ...said }
    return trash ? { record, trash } : { record }
  } catch (cause) {
    throw new Error(`${recordKey(key)}: expected an original's record; restore it or remove it`, { cause })
  }
}

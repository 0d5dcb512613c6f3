import { z } from 'zod'
import type { Client } from '../../core/clients/client.ts'
import { annotated } from '../../core/files/annotations.ts'
import {
  classifyKey,
  derivativePrefix,
  type ObjectKey,
  type OriginalName,
  recordKey,
} from '../../core/files/object-key.ts'
import { type PathCandidates, readCandidates } from '../../core/files/request-path.ts'
import { isScript } from '../../core/media/scripts.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type {
  DerivativeIndex,
  OriginalEntry,
  OriginalIndex,
  OriginalRecord,
  Trash,
} from '../../core/ports/file-index.ts'
import { scanSchema } from '../../core/storage/scan.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { recordOfDerivative } from '../derivatives/parts.ts'
import type { OriginalEvents } from './original-events.ts'
import {
  createStoredDerivatives,
  type IndexedDerivative,
  type StoredDerivatives,
  unlessUnavailable,
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
  crc32: z.int().min(0).optional(),
  storedAt: z.number(),
  truncated: z.literal(true).optional(),
  scripts: z.array(z.string()).optional(),
  scan: scanSchema.optional(),
  tags: z.array(z.string()).optional(),
  metadata: z.record(z.string(), z.string()).optional(),
  focalPoint: z.object({ x: z.number(), y: z.number() }).optional(),
  trash: z.object({ at: z.number(), until: z.number() }).optional(),
})

/** An original's record in the bucket. */
export interface BucketRecord {
  record: OriginalRecord
  /** Set when the original is soft-deleted. */
  trash?: Trash
  /** The tag of the record object that was read. */
  recordTag?: string
}

export type ResolvedOriginal = FoundOriginal & {
  /** The variant of the derivative, when the path names a derivative of the original. */
  variant?: string
}

/** An original, and the index entry of one of its derivatives. */
export interface OriginalToRead extends FoundOriginal {
  /** Absent when no derivative was requested, or when the first read of the index did not return the original as `stored`. */
  indexed?: IndexedDerivative
}

/** Finds originals by the candidates of a path. */
export interface Originals extends StoredDerivatives {
  /**
   * The first candidate that is a stored original.
   * @throws Problem 503 when the index or the bucket is unavailable
   */
  resolve(client: Client, meanings: PathCandidates): Promise<ResolvedOriginal | undefined>
  /** As `resolve`, for callers that only read: while the index is unavailable, it reads the bucket alone. */
  resolveToRead(client: Client, meanings: PathCandidates): Promise<ResolvedOriginal | undefined>
  /** As `resolveToRead`, for one candidate. The same read of the index also returns the entry of `derivative`. */
  findToRead(client: Client, name: OriginalName, derivative?: ObjectKey): Promise<OriginalToRead | undefined>
  /**
   * `pending` → `stored`, if bytes and record are in the bucket. A record is written after all bytes of its form, so its
   * client may have received a success. Harmless while a slow upload is still in progress. If the index has lost the end of an
   * upload, it may have lost derivatives too, so those in the bucket are indexed.
   * @returns the record; undefined when the upload is not complete, or the original was deleted
   */
  commit(client: Client, key: ObjectKey): Promise<OriginalRecord | undefined>
  /** The record of an original whose bytes exist in the bucket. It is the source of truth when the index differs. */
  inBucket(client: Client, key: ObjectKey): Promise<BucketRecord | undefined>
}

type Find = (client: Client, name: OriginalName) => Promise<FoundOriginal | undefined>

export function createOriginals({
  index,
  buckets,
  originalEvents,
}: {
  index: OriginalIndex & DerivativeIndex
  buckets: Buckets
  originalEvents: OriginalEvents
}): Originals {
  const find: Find = async (client, name) => {
    const ref = { clientId: client.id, key: name.key }
    const entry = (await index.find(ref)).original ?? (await adopt(client, name))
    const record = entry?.state === 'pending' ? await commit(client, name.key) : recordOf(entry)
    return record && { name, record }
  }

  const findToRead: Originals['findToRead'] = async (client, name, derivative) => {
    const known = await unlessUnavailable(index.find({ clientId: client.id, key: name.key }, derivative))
    if (known?.original?.state === 'stored') {
      const found = { name, record: known.original.record }
      return derivative === undefined ? found : { ...found, indexed: known }
    }
    // A full Redis answers reads, but refuses writes.
    const taken = known && (await unlessUnavailable(find(client, name).then((found) => ({ found }))))
    if (taken) return taken.found
    const found = await inBucket(client, name.key)
    return found && !found.trash ? { name, record: found.record } : undefined
  }

  /** Indexes an original that the index has lost. Its record in the bucket proves that its upload was complete. */
  async function adopt(client: Client, { key }: OriginalName) {
    const found = await inBucket(client, key)
    if (!found) return undefined
    const entry = await index.adopt(client.id, found.record, found.trash, found.recordTag)
    if (await buckets.of(client).find(key)) return entry
    // A delete has begun and ended in between, and this entry was added after its end.
    const ref = { clientId: client.id, key }
    await index.beginRemoval(ref, { cause: 'purge', leaseUntil: 0, now: 0 })
    await index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    return undefined
  }

  async function commit(client: Client, key: ObjectKey): Promise<OriginalRecord | undefined> {
    const found = await inBucket(client, key)
    if (!found) return undefined
    const { record, trash, recordTag } = found
    // The tag is of a record with the mark of the trash, which the index has only after the next step.
    const tags = recordTag !== undefined && !trash ? new Map([[key, recordTag]]) : undefined
    if (!(await index.finishUpload(client.id, [record], tags))) return undefined
    if (trash) {
      await index.trash({ clientId: client.id, key }, trash)
      return undefined
    }
    originalEvents.stored(client, record)
    await adoptDerivatives(client, key)
    return record
  }

  async function adoptDerivatives(client: Client, key: ObjectKey): Promise<void> {
    const bucket = buckets.of(client)
    for await (const found of bucket.list(derivativePrefix(key))) {
      const asset = classifyKey(found)?.kind === 'derivative' && (await bucket.find(found))
      if (!asset) continue
      await index.adoptDerivative(
        { clientId: client.id, key },
        await recordOfDerivative(bucket, found, asset),
      )
    }
  }

  async function inBucket(client: Client, key: ObjectKey): Promise<BucketRecord | undefined> {
    const bucket = buckets.of(client)
    const record = await snapshot(bucket, recordKey(key))
    if (!record || !(await bucket.find(key))) return undefined
    const parsed = parseRecord(key, record.bytes)
    return record.tag === undefined ? parsed : { ...parsed, recordTag: record.tag }
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

function recordOf(entry: OriginalEntry | undefined): OriginalRecord | undefined {
  return entry?.state === 'stored' ? entry.record : undefined
}

/** @throws Error that names the record when it is invalid */
function parseRecord(key: ObjectKey, bytes: Buffer): BucketRecord {
  try {
    const { trash, crc32, truncated, scripts, scan, tags, metadata, focalPoint, ...rest } =
      storedRecord.parse(JSON.parse(bytes.toString('utf8')))
    const annotations = annotated({}, { tags: tags ?? [], metadata: metadata ?? {}, focalPoint })
    const facts = {
      ...(crc32 === undefined ? {} : { crc32 }),
      ...(truncated ? { truncated } : {}),
      ...(scripts ? { scripts: scripts.filter(isScript) } : {}),
      ...(scan ? { scan } : {}),
    }
    const record = { ...rest, key, ...facts, ...annotations }
    return trash ? { record, trash } : { record }
  } catch (cause) {
    throw new Error(`${recordKey(key)}: expected an original's record; restore it or remove it`, { cause })
  }
}

import { z } from 'zod'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import { isLivePlaylist } from '../../core/files/bundle.ts'
import { type ObjectKey, type OriginalName, provisionalKey, recordKey } from '../../core/files/object-key.ts'
import type { PathCandidates } from '../../core/files/request-path.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { FileIndex, OriginalEntry, OriginalRecord, Trash } from '../../core/ports/file-index.ts'
import { unlessStatus } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { recordOfDerivative } from '../derivatives/parts.ts'

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

/** Names a file of a derivative: `key` is the derivative's own, or that of a part of it. */
export interface DerivativeFile {
  key: ObjectKey
  derivative: ObjectKey
}

/** A file of a derivative, as it is at the moment. */
export interface CurrentFile {
  asset: Asset
  /** There may be another, longer one in a moment: a playlist of what is still being made. */
  isPartial: boolean
}

/** Finds originals by what a path may mean. */
export interface Originals {
  /**
   * The first meaning that is a stored original.
   * @throws Problem 503 when the index or the bucket cannot be asked
   */
  resolve(client: Client, meanings: PathCandidates): Promise<ResolvedOriginal | undefined>
  /** The same for those who only read: while the index cannot be asked, the bucket alone is. */
  resolveToRead(client: Client, meanings: PathCandidates): Promise<ResolvedOriginal | undefined>
  /**
   * The bytes of a stored derivative; one that the bucket holds and the index has lost is taken in again. While the
   * index cannot be asked, the bucket alone is.
   */
  derivativeToRead(client: Client, original: ObjectKey, derivative: ObjectKey): Promise<Asset | undefined>
  /**
   * The bytes of a file of a derivative that is stored, or of what there is by now of one that is being made and has parts:
   * its own key is then that of its provisional entry.
   */
  fileToRead(client: Client, original: ObjectKey, file: DerivativeFile): Promise<CurrentFile | undefined>
  /** Whether there is enough of a derivative that is being made to begin with. */
  isPlayable(client: Client, derivative: ObjectKey): Promise<boolean>
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

  async function firstOf(by: Find, client: Client, { full, short }: PathCandidates) {
    const found = full && (await by(client, full))
    if (found) return full.variant === undefined ? found : { ...found, variant: full.variant }
    return short && short.key !== full?.key ? by(client, short) : undefined
  }

  /** The bytes of a stored derivative, or whether it may be being made. */
  async function look(
    client: Client,
    key: ObjectKey,
    derivative: ObjectKey,
  ): Promise<{ asset: Asset | undefined; isPending: boolean }> {
    const ref = { clientId: client.id, key }
    const bucket = buckets.of(client)
    const known = await unlessAway(index.find(ref, derivative))
    const entry = known?.derivative
    if (entry?.state === 'pending') return { asset: undefined, isPending: true }
    const found = await bucket.find(derivative, entry?.record)
    // One that was truncated or changed is rendered again.
    const asset = entry && found?.size !== entry.record.size ? undefined : found
    if (entry || !asset || !known) return { asset, isPending: !known }
    const adopted = recordOfDerivative(bucket, derivative, asset).then((record) =>
      index.adoptDerivative(ref, record),
    )
    const now = await unlessAway(adopted.then((taken) => ({ taken })))
    // Begun anew since we looked, or its original is going: these bytes are not it any more.
    if (now && now.taken?.state !== 'stored')
      return { asset: undefined, isPending: now.taken?.state === 'pending' }
    return { asset, isPending: false }
  }

  return {
    resolve: (client, meanings) => firstOf(find, client, meanings),
    resolveToRead: (client, meanings) => firstOf(findToRead, client, meanings),
    derivativeToRead: async (client, key, derivative) => (await look(client, key, derivative)).asset,
    async fileToRead(client, original, { key, derivative }) {
      const { asset: entry, isPending } = await look(client, original, derivative)
      const provisional = provisionalKey(derivative)
      // By its own name it is nobody's.
      if (key === provisional) return undefined
      const bucket = buckets.of(client)
      const isEntry = key === derivative
      if (entry) return fixed(isEntry ? entry : await bucket.find(key))
      if (!isPending || !provisional) return undefined
      if (!isEntry && !isLivePlaylist(key)) return fixed(await bucket.find(key))
      const asset = await snapshot(bucket, isEntry ? provisional : key)
      return asset && { asset, isPartial: true }
    },
    async isPlayable(client, derivative) {
      const provisional = provisionalKey(derivative)
      return provisional !== undefined && (await buckets.of(client).find(provisional)) !== undefined
    },
    commit,
    inBucket,
  }
}

function fixed(asset: Asset | undefined): CurrentFile | undefined {
  return asset && { asset, isPartial: false }
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

import { once } from 'node:events'
import { PassThrough, pipeline, Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { z } from 'zod'
import type { Asset } from '../../core/bytes/asset.ts'
import { FIRST_CLIENT_ID, isClientId } from '../../core/clients/client.ts'
import { classifyKey, type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { isKept } from './kept.ts'

/** The version of the format. A manifest with a higher one was written by a newer version of Sluice. */
const VERSION = 1
const PREFIX = 'manifests/'
const NAME = /^manifests\/(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.jsonl\.gz$/
// An entry has at most 2 kB.
const LINE_MAX_BYTES = 16 * 1024

const content = {
  // A longer size would not fit into 6 bytes, and no store has such objects.
  size: z
    .int()
    .min(0)
    .max(2 ** 48 - 1),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
}
const header = z.object({
  format: z.literal('sluice-backup'),
  version: z.int().min(1),
  installation: z.string().optional(),
})
const entry = z.object({
  client: z.string().refine((id) => id === FIRST_CLIENT_ID || isClientId(id)),
  key: z.string().transform((key) => {
    const stored = storedKey(key)
    if (!isKept(stored)) throw new Error(`not a record: ${JSON.stringify(key)}`)
    return stored
  }),
  ...content,
  tag: z.string().optional(),
  original: z.object(content).optional(),
})
const trailer = z.object({ end: z.object({ records: z.int(), files: z.int(), bytes: z.int() }) })

/**
 * A record of a client, with its digest, and the content of the original that it describes. `tag`: of its object in the bucket,
 * which another record would not have. The key of the original follows from that of the record.
 */
export type BackupEntry = z.infer<typeof entry>

/** The numbers at the end of a manifest. `files` and `bytes` are those of originals. */
export type BackupTotals = z.infer<typeof trailer>['end']

/** A backup in the list of its target. */
export interface BackupManifest {
  key: ObjectKey
  /** When it began, in milliseconds since 1970. */
  at: number
}

/** The complete backups of a target, oldest first. */
export async function listManifests(bucket: Bucket): Promise<BackupManifest[]> {
  const found: BackupManifest[] = []
  for await (const key of bucket.list(PREFIX)) {
    const [, hour, minute, rest] = NAME.exec(key) ?? []
    const at = hour === undefined ? Number.NaN : Date.parse(`${hour}:${minute}:${rest}`)
    if (Number.isFinite(at)) found.push({ key, at })
  }
  return found.sort((one, other) => one.at - other.at)
}

/** Compares entries in the order of a manifest: the first client, then the others by their IDs, each by its keys. */
export function byOrder(one: Pick<BackupEntry, 'client' | 'key'>, other: typeof one): number {
  return byClient(one.client, other.client) || byBytes(one.key, other.key)
}

export function byClient(one: string, other: string): number {
  if (one === other) return 0
  if (one === FIRST_CLIENT_ID || other === FIRST_CLIENT_ID) return one === FIRST_CLIENT_ID ? -1 : 1
  return byBytes(one, other)
}

/**
 * Writes the manifest of a backup. `installation`: the same in all backups of an installation. It appears when all its entries are written: a killed backup has none.
 *
 * @throws Problem when the backup cannot be written
 */
export async function writeManifest(
  bucket: Bucket,
  {
    at,
    installation,
    entries,
    signal,
  }: {
    at: number
    installation?: string | undefined
    entries: AsyncIterable<BackupEntry>
    signal: AbortSignal
  },
): Promise<BackupTotals> {
  const totals: BackupTotals = { records: 0, files: 0, bytes: 0 }
  const key = storedKey(`${PREFIX}${new Date(at).toISOString().replaceAll(':', '-')}.jsonl.gz`)
  const ended = new AbortController()
  const text = new PassThrough()
  const zipped = pipeline(text, createGzip(), () => {})
  const stored = bucket.put(key, zipped, { mediaType: 'application/gzip', signal })
  stored.catch((error) => ended.abort(error))
  const write = async (value: object) => {
    ended.signal.throwIfAborted()
    if (!text.write(`${JSON.stringify(value)}\n`)) await once(text, 'drain', { signal: ended.signal })
  }
  try {
    await write({ format: 'sluice-backup', version: VERSION, installation })
    for await (const one of entries) {
      totals.records += 1
      if (one.original) {
        totals.files += 1
        totals.bytes += one.original.size
      }
      await write(one)
    }
    await write({ end: totals })
    text.end()
  } catch (error) {
    text.destroy(error as Error)
    await stored.catch(() => {})
    throw ended.signal.aborted ? ended.signal.reason : error
  }
  await stored
  return totals
}

/**
 * Reads the entries of a manifest.
 *
 * @param options.begun called with the installation that the backup is of, if it is stated
 * @param options.ended called with the totals after the last entry
 * @throws DamagedManifest; Error for one of a newer version; Problem when it cannot be read
 */
export async function* readManifest(
  bucket: Bucket,
  { key }: BackupManifest,
  {
    signal,
    begun,
    ended,
  }: {
    signal: AbortSignal
    begun?: (installation: string | undefined) => void
    ended?: (totals: BackupTotals) => void
  },
): AsyncGenerator<BackupEntry> {
  const asset = await bucket.find(key, { mediaType: 'application/gzip' })
  if (!asset) throw new Error(`${key} does not exist any more`)
  const totals: BackupTotals = { records: 0, files: 0, bytes: 0 }
  let line = 0
  let last: BackupEntry | undefined
  let isEnded = false
  try {
    for await (const text of linesOf(Readable.from(resumed(asset, signal)))) {
      line += 1
      const value: unknown = JSON.parse(text)
      if (line === 1) {
        const { installation } = checkVersion(value)
        begun?.(installation)
        continue
      }
      const end = trailer.safeParse(value)
      if (isEnded) throw new Error('more lines than its end states')
      if (end.success) {
        isEnded = JSON.stringify(end.data.end) === JSON.stringify(totals)
        if (!isEnded) throw new Error('other numbers at its end than it has entries')
        continue
      }
      const one = entry.parse(value)
      if (one.original && classifyKey(one.key)?.kind !== 'record')
        throw new Error('an original without its record')
      if (last && byOrder(last, one) >= 0) throw new Error('entries out of order')
      last = one
      totals.records += 1
      totals.files += one.original ? 1 : 0
      totals.bytes += one.original?.size ?? 0
      yield one
    }
    if (!isEnded) throw new Error('its end is missing')
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof NewerVersion || cause instanceof Problem) throw cause
    throw new DamagedManifest(
      `${key}, line ${line}: this manifest is damaged. Use another backup with --at`,
      { cause },
    )
  }
  ended?.(totals)
}

/** A manifest is incomplete or invalid. */
export class DamagedManifest extends Error {}

class NewerVersion extends Error {}

function checkVersion(value: unknown): { installation?: string | undefined } {
  const { version, installation } = header.parse(value)
  if (version > VERSION)
    throw new NewerVersion(
      `this backup has the format ${version}, and this version of Sluice reads formats up to ${VERSION}. Use a newer version`,
    )
  return { installation }
}

/** The bytes of an object. A store that closes the connection, since the reader does other work in between, is asked for the rest. */
async function* resumed(asset: Asset, signal: AbortSignal): AsyncGenerator<Buffer> {
  let start = 0
  for (let attempts = 0; start < asset.size; attempts += 1) {
    try {
      const bytes = await asset.open({
        signal,
        ...(start > 0 ? { range: { start, end: asset.size - 1 } } : {}),
      })
      for await (const chunk of bytes as AsyncIterable<Buffer>) {
        yield chunk
        start += chunk.length
        attempts = 0
      }
      return
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof Problem && error.status === 503) || attempts > 3) throw error
    }
  }
}

/** Memory is bounded: a line that is too long, or that bytes of zeros unpack to, ends the reading. */
async function* linesOf(zipped: Readable): AsyncGenerator<string> {
  let rest = Buffer.alloc(0)
  const unzipped = pipeline(zipped, createGunzip(), () => {})
  for await (const chunk of unzipped as AsyncIterable<Buffer>) {
    let bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      yield bytes.toString('utf8', 0, end)
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > LINE_MAX_BYTES) throw new Error('a line is too long')
    rest = Buffer.from(bytes)
  }
  if (rest.length > 0) throw new Error('the last line is incomplete')
}

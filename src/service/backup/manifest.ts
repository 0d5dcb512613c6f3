import { z } from 'zod'
import { FIRST_CLIENT_ID, isClientId } from '../../core/clients/client.ts'
import { classifyKey, type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import { byBytes } from '../../core/text/byte-order.ts'
import { putLines, readLines } from './lines.ts'
import type { Waiting } from './persistence.ts'
import { isRecord } from './records.ts'

/** The version of the format. A manifest with a higher one was written by a newer version of Sluice. */
const VERSION = 1
const PREFIX = 'manifests/'
const NAME = /^manifests\/(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d\.\d{3}Z)\.jsonl\.gz$/

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
})
const entry = z.object({
  client: z.string().refine((id) => id === FIRST_CLIENT_ID || isClientId(id)),
  key: z.string().transform((key) => {
    const stored = storedKey(key)
    if (!isRecord(stored)) throw new Error(`not a record: ${JSON.stringify(key)}`)
    return stored
  }),
  ...content,
  tag: z.string().optional(),
  original: z.object({ ...content, mediaType: z.string().optional() }).optional(),
})
const trailer = z.object({
  end: z.object({ records: z.int(), files: z.int(), bytes: z.int(), notCopied: z.int() }),
})

/**
 * A record of a client, with its digest, and the content of the original that it describes. `tag`: of its object in the bucket,
 * which another record would not have. The key of the original follows from that of the record.
 */
export type BackupEntry = z.infer<typeof entry>

/**
 * The numbers at the end of a manifest. `files` and `bytes` are those of originals. `notCopied`: files, or clients with all their files,
 * that could not be copied. At best it has earlier copies of them.
 */
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
export function byOrder(
  one: { client: string; key: string },
  other: { client: string; key: string },
): number {
  return byClient(one.client, other.client) || byBytes(one.key, other.key)
}

export function byClient(one: string, other: string): number {
  if (one === other) return 0
  if (one === FIRST_CLIENT_ID || other === FIRST_CLIENT_ID) return one === FIRST_CLIENT_ID ? -1 : 1
  return byBytes(one, other)
}

/**
 * Writes the manifest of a backup. It appears when all its entries are written: a killed backup has none.
 *
 * @param options.notCopied called after the last entry
 * @throws Problem when the backup cannot be written
 */
export async function writeManifest(
  bucket: Bucket,
  {
    at,
    entries,
    notCopied,
    ...waiting
  }: Waiting & { at: number; entries: AsyncIterable<BackupEntry>; notCopied(): number },
): Promise<BackupTotals> {
  const totals: BackupTotals = { records: 0, files: 0, bytes: 0, notCopied: 0 }
  async function* lines(): AsyncGenerator<object> {
    yield { format: 'sluice-backup', version: VERSION }
    for await (const one of entries) {
      addTo(totals, one)
      yield one
    }
    totals.notCopied = notCopied()
    yield { end: totals }
  }
  const key = storedKey(`${PREFIX}${new Date(at).toISOString().replaceAll(':', '-')}.jsonl.gz`)
  await putLines(bucket, key, { lines: lines(), ...waiting })
  return totals
}

/**
 * Reads the entries of a manifest.
 *
 * @param options.ended called with the totals after the last entry
 * @throws DamagedManifest; Error for one of a newer version; Problem when it cannot be read
 */
export async function* readManifest(
  bucket: Bucket,
  { key }: BackupManifest,
  { ended, ...waiting }: Waiting & { ended?: (totals: BackupTotals) => void },
): AsyncGenerator<BackupEntry> {
  const lines = await readLines(bucket, key, waiting)
  if (!lines) throw new Error(`${key} does not exist any more`)
  const totals: BackupTotals = { records: 0, files: 0, bytes: 0, notCopied: 0 }
  let line = 0
  let last: BackupEntry | undefined
  let isEnded = false
  try {
    for await (const value of lines) {
      line += 1
      if (line === 1) {
        checkVersion(value)
        continue
      }
      if (isEnded) throw new Error('more lines than its end states')
      const end = trailer.safeParse(value)
      if (end.success) {
        totals.notCopied = end.data.end.notCopied
        isEnded = JSON.stringify(end.data.end) === JSON.stringify(totals)
        if (!isEnded) throw new Error('other numbers at its end than it has entries')
        continue
      }
      const one = entry.parse(value)
      if (one.original && classifyKey(one.key)?.kind !== 'record')
        throw new Error('an original without its record')
      if (last && byOrder(last, one) >= 0) throw new Error('entries out of order')
      last = one
      addTo(totals, one)
      yield one
    }
    if (!isEnded) throw new Error('its end is missing')
  } catch (cause) {
    waiting.signal.throwIfAborted()
    if (cause instanceof NewerVersion || cause instanceof Problem) throw cause
    throw new DamagedManifest(`${key}, line ${line}: this manifest is damaged`, { cause })
  }
  ended?.(totals)
}

function addTo(totals: BackupTotals, { original }: BackupEntry): void {
  totals.records += 1
  if (!original) return
  totals.files += 1
  totals.bytes += original.size
}

/** A manifest is incomplete or invalid. */
export class DamagedManifest extends Error {}

class NewerVersion extends Error {}

function checkVersion(value: unknown): void {
  const { version } = header.parse(value)
  if (version > VERSION)
    throw new NewerVersion(
      `this backup has the format ${version}, and this version of Sluice reads formats up to ${VERSION}. Use a newer version`,
    )
}

import { z } from 'zod'
import { readAll } from '../core/asset.ts'
import type { Client } from '../core/client.ts'
import { type ObjectKey, type OriginalName, type PathMeanings, recordKey } from '../core/object-key.ts'
import type { Buckets } from '../core/ports/bucket.ts'
import type { DerivativeEntry, FileIndex, OriginalRecord } from '../core/ports/file-index.ts'

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

/** Finds originals by what a path may mean. */
export interface Originals {
  /** The first meaning that is a stored original; with `variant` when the path named a derivative of it. */
  resolve(client: Client, meanings: PathMeanings): Promise<(FoundOriginal & { variant?: string }) | undefined>
  /** One derivative of an original, as the index has it. */
  derivative(client: Client, original: ObjectKey, derivative: ObjectKey): Promise<DerivativeEntry | undefined>
}

export function createOriginals({ index, buckets }: { index: FileIndex; buckets: Buckets }): Originals {
  async function find(client: Client, name: OriginalName): Promise<FoundOriginal | undefined> {
    const ref = { clientId: client.id, key: name.key }
    const entry = (await index.find(ref)).original ?? (await adopt(client, name))
    return entry?.state === 'stored' ? { name, record: entry.record } : undefined
  }

  /** An original that the bucket holds and the index has lost: its record says that its upload had come to the end. */
  async function adopt(client: Client, { key }: OriginalName) {
    const bucket = buckets.of(client)
    const record = await bucket.find(recordKey(key))
    if (!record || !(await bucket.find(key))) return undefined
    const entry = await index.adopt(client.id, parseRecord(key, await readAll(record)))
    if (await bucket.find(key)) return entry
    // A delete has begun and ended in between: the entry came after its end.
    const ref = { clientId: client.id, key }
    await index.beginRemoval(ref, { cause: 'delete', leaseUntil: 0, now: 0 })
    await index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    return undefined
  }

  return {
    async resolve(client, { full, short }) {
      const found = full && (await find(client, full))
      if (found) return full.variant === undefined ? found : { ...found, variant: full.variant }
      return short && short.key !== full?.key ? find(client, short) : undefined
    },
    async derivative({ id: clientId }, key, derivative) {
      return (await index.find({ clientId, key }, derivative)).derivative
    },
  }
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

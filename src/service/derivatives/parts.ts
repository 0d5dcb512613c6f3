import type { Asset } from '../../core/bytes/asset.ts'
import { type ObjectKey, partsPrefix } from '../../core/files/object-key.ts'
import { outputTooLarge } from '../../core/limit-problems.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { DerivativeRecord } from '../../core/ports/file-index.ts'

/** Counts the bytes of a bundle's parts while they are stored. A playlist is stored several times, longer each time. */
export interface CountedParts {
  /** Sets the size of a part. @throws Problem 422 when all parts together exceed the maximum size of an output */
  count(name: string, size: number): void
  /** The bytes of all parts. */
  bytes(): number
  /** The members for the record in the index; empty without parts. */
  members(): Pick<DerivativeRecord, 'partsBytes'>
}

/** @param maxBytes maximum of all parts together */
export function countParts(maxBytes: number): CountedParts {
  const sizes = new Map<string, number>()
  let bytes = 0
  return {
    count(name, size) {
      bytes += size - (sizes.get(name) ?? 0)
      sizes.set(name, size)
      if (bytes > maxBytes) throw outputTooLarge(maxBytes)
    },
    bytes: () => bytes,
    members: () => (bytes > 0 ? { partsBytes: bytes } : {}),
  }
}

/** The record of a derivative that a bucket has. For a bundle, all parts are read. */
export async function recordOfDerivative(
  bucket: Bucket,
  key: ObjectKey,
  { mediaType, size }: Pick<Asset, 'mediaType' | 'size'>,
): Promise<DerivativeRecord> {
  const prefix = partsPrefix(key)
  if (prefix === undefined) return { key, mediaType, size }
  const parts = countParts(Number.POSITIVE_INFINITY)
  for await (const part of bucket.list(prefix)) {
    const asset = part === key ? undefined : await bucket.find(part)
    if (asset) parts.count(part, asset.size)
  }
  return { key, mediaType, size, ...parts.members() }
}

import type { Asset } from '../../core/bytes/asset.ts'
import { type ObjectKey, partsPrefix } from '../../core/files/object-key.ts'
import { outputTooLarge } from '../../core/limit-problems.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { DerivativeRecord } from '../../core/ports/file-index.ts'

/** Counts the parts of a bundle while they are stored: some of them more than once, longer each time. */
export interface CountedParts {
  /** @throws Problem 422 when all of them together are larger than an output may be */
  count(name: string, size: number): void
  /** Bytes of all parts. */
  bytes(): number
  /** What the index is told of them: nothing where there are none. */
  members(): Pick<DerivativeRecord, 'partsBytes'>
}

/** @param maxBytes of all parts together */
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

/** The record of a derivative that a bucket holds; of a bundle all parts are looked at. */
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

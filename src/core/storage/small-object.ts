import { Readable } from 'node:stream'
import { type Asset, assetFromBytes, readWhole } from '../bytes/asset.ts'
import type { ObjectKey } from '../files/object-key.ts'
import type { Bucket } from '../ports/bucket.ts'
import { isFileReplaced, Problem } from '../problem.ts'

/** Stores a value as JSON, in place of an object that has this key. @throws Problem 503 */
export async function putJson(
  bucket: Bucket,
  key: ObjectKey,
  { value, signal }: { value: unknown; signal: AbortSignal },
): Promise<void> {
  const bytes = Readable.from([Buffer.from(JSON.stringify(value))])
  await bucket.put(key, bytes, { mediaType: 'application/json', signal })
}

/** A small file with its bytes as they were at one moment. */
export interface Snapshot extends Asset {
  bytes: Buffer
}

// A small object is written at most once a second.
const ATTEMPTS = 3

/**
 * Reads a small file that may be replaced or deleted at the same time. When the size or the tag is of the old file and the
 * bytes are of the new one, it reads again. Undefined when the file does not exist.
 *
 * @throws Problem 503 when the bucket is unavailable
 */
export async function snapshot(bucket: Bucket, key: ObjectKey): Promise<Snapshot | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const asset = await bucket.find(key)
    if (!asset) return undefined
    try {
      const { size, tag } = asset
      // Only the read of a range fails when the file was replaced by one of the same size.
      const bytes = await readWhole(asset, size > 0 ? { range: { start: 0, end: size - 1 } } : {})
      return { ...assetFromBytes(bytes, asset), bytes, ...(tag === undefined ? {} : { tag }) }
    } catch (error) {
      const isAway = error instanceof Problem && error.status !== 404 && !isFileReplaced(error)
      if (isAway || attempt === ATTEMPTS) throw error
    }
  }
}

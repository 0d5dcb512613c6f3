import { type Asset, assetFromBytes, readAll } from '../bytes/asset.ts'
import type { ObjectKey } from '../files/object-key.ts'
import type { Bucket } from '../ports/bucket.ts'
import { Problem } from '../problem.ts'

/** A small file as it was at one moment. */
export interface Snapshot extends Asset {
  bytes: Buffer
}

// What is put anew the most often is so once a second.
const ATTEMPTS = 3

/**
 * Reads a small file that may be put anew or deleted while it is read: one with a size of before and bytes of after is read
 * again. Undefined for none.
 *
 * @throws Problem 503
 */
export async function snapshot(bucket: Bucket, key: ObjectKey): Promise<Snapshot | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const asset = await bucket.find(key)
    if (!asset) return undefined
    try {
      const bytes = await readAll(asset)
      return { ...assetFromBytes(bytes, asset), bytes }
    } catch (error) {
      const isAway = error instanceof Problem && error.status !== 404
      if (isAway || attempt === ATTEMPTS) throw error
    }
  }
}

import { boundedCache } from '../../core/budgets/bounded-cache.ts'
import { type Asset, readStart } from '../../core/bytes/asset.ts'
import { sha256 } from '../../core/bytes/digest.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import { foreignKey, type IsForeign } from '../../core/foreign/foreign-path.ts'
import { sniffDepth } from '../../core/media/sniff/depth.ts'
import { SNIFF_BYTES, type SniffedType, sniff } from '../../core/media/sniff/sniff.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { fileNotFound } from '../../core/problem.ts'

/** An object that another system has written. */
export interface ForeignObject {
  key: ObjectKey
  /** The last part of its path. */
  name: string
  /** Its bytes, with the detected media type. */
  asset: Asset
  type: SniffedType
  /** Identifies this version of the object: 16 hexadecimal digits. */
  version: string
}

/** Finds foreign objects. @throws Problem 400 for an invalid path, 404, 503 */
export type FindForeign = (client: Client, path: string, signal: AbortSignal) => Promise<ForeignObject>

// Detected types, of a few hundred bytes each: about 5,000.
const REMEMBERED_BYTES = 5_000_000
const TYPE_BYTES = 300

export function createFindForeign({
  buckets,
  isForeign,
}: {
  buckets: Buckets
  isForeign: IsForeign
}): FindForeign {
  const types = boundedCache<SniffedType>({ maxBytes: REMEMBERED_BYTES, bytesOf: () => TYPE_BYTES })

  async function typeOf(asset: Asset, name: string, signal: AbortSignal): Promise<SniffedType> {
    if (asset.size === 0) return sniff(new Uint8Array(), name)
    const head = (maxBytes: number) => readStart(asset, { maxBytes, signal })
    const first = await head(SNIFF_BYTES)
    const depth = sniffDepth(first)
    return sniff(depth > first.length && first.length < asset.size ? await head(depth) : first, name)
  }

  return async (client, path, signal) => {
    const key = foreignKey(path)
    if (!isForeign(key)) throw fileNotFound()
    // The type is detected below, so that the bucket need not do it.
    const found = await buckets.of(client).find(key, { mediaType: 'application/octet-stream' })
    if (!found) throw fileNotFound()
    const name = key.slice(key.lastIndexOf('/') + 1)
    const version = versionOf(found)
    const place = `${client.id} ${key} ${version}`
    const type = types.get(place) ?? (await typeOf(found, name, signal))
    types.set(place, type)
    return { key, name, version, type, asset: { ...found, mediaType: type.mediaType } }
  }
}

/** A changed object has another ETag; on a disk another size or time. */
function versionOf({ etag = '', size, lastModified }: Asset): string {
  return sha256(`${etag} ${size} ${lastModified.getTime()}`).slice(0, 16)
}

import type { Asset } from '../../core/bytes/asset.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { OriginalRecord } from '../../core/ports/file-index.ts'
import { Problem } from '../../core/problem.ts'
import { emptySource } from '../../core/transform-problems.ts'

/**
 * The bytes of a stored original, to deliver or transform it; undefined when the bucket has none. An original never changes, so
 * another size means that another program has changed the bucket, or that its disk has lost bytes. Caches would store the damaged
 * file for a week under the ETag of the intact one.
 *
 * @throws Problem 500 file_damaged, 503
 */
export async function originalBytes(bucket: Bucket, record: OriginalRecord): Promise<Asset | undefined> {
  const asset = await bucket.find(record.key, record)
  if (asset && asset.size !== record.size) throw fileDamaged(asset, record)
  return asset && withCrc(asset, record)
}

/** The same for transformations. @throws Problem 422 also for an original without bytes */
export async function bytesToTransform(bucket: Bucket, record: OriginalRecord): Promise<Asset | undefined> {
  const asset = await bucket.find(record.key, record)
  if (asset?.size === 0) throw emptySource()
  if (asset && asset.size !== record.size) throw fileDamaged(asset, record)
  return asset
}

/** The asset with the checksum of its record, if it has one. */
export function withCrc(asset: Asset, { crc32 }: Pick<OriginalRecord, 'crc32'>): Asset {
  return crc32 === undefined ? asset : { ...asset, crc32 }
}

function fileDamaged(asset: Asset, { key, size }: OriginalRecord): Problem {
  return new Problem({
    status: 500,
    code: 'file_damaged',
    detail: 'The stored file is damaged. The operator must restore it from a backup.',
    cause: new Error(`${key} has ${asset.size} bytes in the bucket, but ${size} were uploaded`),
  })
}

import type { Asset } from '../../core/bytes/asset.ts'
import { formatOfMediaType } from '../../core/media/formats.ts'
import { type Bucket, ChangedObject } from '../../core/ports/bucket.ts'
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
  if (asset && asset.size !== record.size) throw fileDamaged(record, new ChangedObject(asset.size))
  return asset && withCrc(asset, record)
}

/**
 * The same for transformations. A remote bucket is not asked whether it has an image: `open` throws instead.
 * @throws Problem 422 also for an original without bytes
 */
export async function bytesToTransform(bucket: Bucket, record: OriginalRecord): Promise<Asset | undefined> {
  const { key, mediaType, size, storedAt } = record
  if (size === 0) throw emptySource()
  if (formatOfMediaType(mediaType).group !== 'image') return originalBytes(bucket, record)
  const unlessDamaged = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error) => {
      if (!(error instanceof ChangedObject)) throw error
      throw error.size === 0 ? emptySource() : fileDamaged(record, error)
    })
  const known = { mediaType, size, lastModified: new Date(storedAt) }
  const asset = await unlessDamaged(() => bucket.assume(key, known))
  return asset && { ...asset, open: (options) => unlessDamaged(() => asset.open(options)) }
}

/** The asset with the checksum of its record, if it has one. */
export function withCrc(asset: Asset, { crc32 }: Pick<OriginalRecord, 'crc32'>): Asset {
  return crc32 === undefined ? asset : { ...asset, crc32 }
}

function fileDamaged({ key, size }: OriginalRecord, changed: ChangedObject): Problem {
  return new Problem({
    status: 500,
    code: 'file_damaged',
    detail: 'The stored file is damaged. The operator must restore it from a backup.',
    cause: new Error(`${key} was uploaded with ${size} bytes`, { cause: changed }),
  })
}

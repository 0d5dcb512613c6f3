import { join } from 'node:path'
import type { Config } from '../../../config/load.ts'
import { diskBuckets } from '../../adapters/bucket/disk/disk.ts'
import type { S3BucketOptions } from '../../adapters/bucket/s3/s3.ts'
import { makeDataDir } from '../../adapters/disk/data-dir.ts'
import type { DiskReserve } from '../../adapters/disk/disk-reserve.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import { bucketUrl } from '../../http/wire/urls.ts'
import { s3Options } from '../settings.ts'

/** The buckets on the disk of this machine. @param options.baseUrl the URL of this process for clients, without a trailing slash */
export async function openDiskBuckets({
  config,
  baseUrl,
  reserve,
  isReadOnly = false,
}: {
  config: Config
  baseUrl: string
  reserve: DiskReserve
  isReadOnly?: boolean
}): Promise<Buckets> {
  if (!isReadOnly) await makeDataDir(config.DATA_DIR)
  return diskBuckets({
    folder: join(config.DATA_DIR, 'bucket'),
    urlOf: (key, { token }) => bucketUrl(key, { baseUrl, token }),
    reserve,
    isReadOnly,
  })
}

/** The buckets of the service in S3. @throws Error when the bucket cannot be used */
export function openS3Buckets(bucket: string, config: Config): Promise<Buckets> {
  return openS3(s3Options(bucket, config), `S3_BUCKET ${bucket}`)
}

/** The buckets in a bucket of S3. @param name the bucket in the error. @throws Error when it cannot be used */
export async function openS3(options: S3BucketOptions, name: string): Promise<Buckets> {
  // Loaded on demand: the packages for S3 and Redis take 25 MB of memory and a third of the start time.
  const { s3Buckets } = await import('../../adapters/bucket/s3/s3.ts')
  const buckets = await s3Buckets(options)
  await buckets.ping().catch((cause: Error) => {
    const why = cause.cause instanceof Error ? `${cause.message} (${cause.cause.message})` : cause.message
    throw new Error(`${name} cannot be used: ${why}`, { cause })
  })
  return buckets
}

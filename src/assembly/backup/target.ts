import { realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { BackupConnection } from '../../../config/backup-target.ts'
import type { Config } from '../../../config/load.ts'
import { diskBuckets } from '../../adapters/bucket/disk/disk.ts'
import { refuseLinks, requireCase, requireFolder } from '../../adapters/bucket/disk/outside-links.ts'
import { normalPrefix, rootOf } from '../../adapters/bucket/s3/root.ts'
import type { S3BucketOptions } from '../../adapters/bucket/s3/s3.ts'
import type { BackupPlace } from '../../core/backup/place.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { overlap } from '../../core/clients/client-storage.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import { installationRoot, s3Options } from '../settings.ts'
import { openS3 } from '../storage/buckets.ts'

// The put of the largest file takes less.
const ABANDONED_MS = 7 * 24 * 3600 * 1000

// The folder may be the root of a disk, with folders of other programs.
const OF_BACKUP = ['objects', 'manifests', '.tmp']

interface TargetOptions {
  config: Config
  connection: BackupConnection
}

/** The connection of a bucket outside of the installation. */
function outsideBucket(
  { bucket, prefix }: { bucket: string; prefix: string },
  { config, connection }: TargetOptions,
): S3BucketOptions {
  const { publicUrl: _, directEndpoint: __, ...own } = s3Options(bucket, config)
  const { endpoint } = connection
  // Stores other than Amazon's mostly need paths, and ignore the region, which the SDK needs.
  const other =
    endpoint === undefined ? {} : { endpoint, forcePathStyle: true, region: own.region ?? 'us-east-1' }
  return { ...own, ...other, ...connection, prefix }
}

/**
 * Opens the folder or bucket of a backup.
 *
 * @throws Error when it is a part of the installation or of a client's own bucket, does not exist, or cannot be used
 */
export async function openTarget(
  place: BackupPlace,
  options: TargetOptions & { clients: readonly Client[]; isReadOnly: boolean },
): Promise<{ bucket: Bucket; sweep(): Promise<void> }> {
  const buckets = 'path' in place ? await folder(place.path, options) : await s3(place, options)
  // On a disk, this root is the folder itself. In S3, the root of the first client is the prefix itself.
  const id = 'path' in place ? '.' : FIRST_CLIENT_ID
  return {
    bucket: buckets.of({ id, token: '' }),
    async sweep() {
      // Credentials may lack the permission. Then a lifecycle rule does it.
      await buckets.sweep(ABANDONED_MS).catch(() => {})
    },
  }
}

/**
 * Opens the bucket that an installation will have after a migration, and its settings. For a folder, it will be DATA_DIR. `placeOf` is the
 * folder or the `s3://` prefix with the objects of a client.
 *
 * @throws Error as {@link openTarget}
 */
export async function openNewHome(
  place: BackupPlace,
  options: TargetOptions & { clients: readonly Client[] },
): Promise<{ buckets: Buckets; placeOf(id: string): string; settings: Record<string, string> }> {
  if ('path' in place) {
    await requireCase(await outsideFolder(place.path, options))
    const buckets = await diskBuckets({ folder: join(place.path, 'bucket'), urlOf: (key) => key })
    return {
      buckets,
      placeOf: (id) => join(place.path, 'bucket', id),
      settings: { DATA_DIR: place.path, ...former(options.config, {}) },
    }
  }
  const { endpoint, region, forcePathStyle, prefix } = outsideBucket(place, options)
  const settings = {
    S3_BUCKET: place.bucket,
    ...(prefix ? { S3_PREFIX: prefix } : {}),
    ...(endpoint ? { AWS_ENDPOINT_URL_S3: endpoint } : {}),
    ...(forcePathStyle ? { S3_FORCE_PATH_STYLE: 'true' } : {}),
    ...(region ? { AWS_REGION: region } : {}),
  }
  return {
    buckets: await s3(place, options),
    placeOf: (id) => `s3://${place.bucket}/${rootOf(id, normalPrefix(place.prefix)).prefix}`,
    settings: { ...settings, ...former(options.config, settings) },
  }
}

const OF_A_BUCKET = ['S3_BUCKET', 'S3_PREFIX', 'S3_PUBLIC_URL', 'S3_DIRECT_ENDPOINT', 'AWS_ENDPOINT_URL_S3']

/** The variables of the present bucket that the new one does not have, as empty values. */
function former(config: Config, settings: object): Record<string, string> {
  const isSet = Object.entries(config).filter(([, value]) => Boolean(value))
  const names = isSet
    .map(([name]) => name)
    .filter((name) => OF_A_BUCKET.includes(name) && !(name in settings))
  return Object.fromEntries(names.map((name) => [name, '']))
}

async function folder(path: string, options: TargetOptions & { isReadOnly: boolean }): Promise<Buckets> {
  const real = await outsideFolder(path, options)
  await refuseLinks(real, OF_BACKUP)
  return diskBuckets({ folder: real, urlOf: (key) => key, isReadOnly: options.isReadOnly })
}

/** @returns the path without symbolic links */
async function outsideFolder(path: string, { config }: TargetOptions): Promise<string> {
  await requireFolder(path)
  const real = await realpath(path)
  const dataDir = await realpath(config.DATA_DIR).catch(() => config.DATA_DIR)
  const below = relative(dataDir, real)
  if (below !== '..' && !below.startsWith(`..${sep}`))
    throw new Error(`${path} is in DATA_DIR, and would be lost with it. Choose a folder of another disk`)
  return real
}

async function s3(
  place: { bucket: string; prefix: string },
  options: TargetOptions & { clients: readonly Client[] },
): Promise<Buckets> {
  const settings = outsideBucket(place, options)
  const root = { endpoint: settings.endpoint, bucket: place.bucket, prefix: normalPrefix(place.prefix) }
  const own = installationRoot(options.config)
  const taken = [...(own ? [own] : []), ...options.clients.flatMap(({ storage }) => storage ?? [])]
  if (taken.some((one) => overlap(one, root)))
    throw new Error(
      `s3://${place.bucket}/${place.prefix} has files of this installation. Choose another bucket or prefix`,
    )
  return openS3(settings, `the bucket ${place.bucket}`)
}

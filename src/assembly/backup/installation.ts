import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import type { Config } from '../../../config/load.ts'
import { readAppSecret } from '../../adapters/app-secret.ts'
import { withOwnBuckets } from '../../adapters/bucket/own.ts'
import { bucketClientStore } from '../../adapters/client-store/bucket.ts'
import { NO_RESERVE } from '../../adapters/disk/disk-reserve.ts'
import { FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { appKeys } from '../../core/signing/derive-key.ts'
import type { Installation } from '../../service/backup/installation.ts'
import { openDiskBuckets, openS3Buckets } from '../storage/buckets.ts'

const FIRST = { id: FIRST_CLIENT_ID, token: '' }

/**
 * Opens the files of an installation without its index, next to a running service or without one.
 *
 * @param options.mayBeNew whether an empty bucket is permitted
 * @throws Error when there are no files, or S3 cannot be used
 */
export async function openInstallation(
  config: Config,
  { mayBeNew }: { mayBeNew: boolean },
): Promise<Installation> {
  const folder = join(config.DATA_DIR, 'bucket')
  if (!config.S3_BUCKET && !mayBeNew && !existsSync(folder))
    throw new Error(`${folder} does not exist. Set DATA_DIR, or S3_BUCKET, to the value that the server has`)
  const common = config.S3_BUCKET
    ? await openS3Buckets(config.S3_BUCKET, config)
    : await openDiskBuckets({ config, baseUrl: '', reserve: NO_RESERVE })
  const secret = config.APP_SECRET ?? (await readAppSecret(join(config.DATA_DIR, 'app-secret')))
  // With a random key, the buckets of clients are unavailable, and reported as such.
  const key = secret === undefined ? randomBytes(32) : appKeys(secret)('bucket credentials')
  const buckets = withOwnBuckets(common, { key, log: pino({ level: 'silent' }) })
  const first = buckets.of(FIRST)
  return {
    first,
    bucketOf: (client) => buckets.of(client),
    clients: async () => (await bucketClientStore(first)).list(),
  }
}

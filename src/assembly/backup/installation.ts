import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import pino from 'pino'
import type { Config } from '../../../config/load.ts'
import { readAppSecret } from '../../adapters/app-secret.ts'
import { withOwnBuckets } from '../../adapters/bucket/own.ts'
import { bucketClientStore, readClient } from '../../adapters/client-store/bucket.ts'
import { NO_RESERVE } from '../../adapters/disk/disk-reserve.ts'
import { type Client, FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { clientRecordPrefix } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import { appKeys } from '../../core/signing/derive-key.ts'
import type { Installation } from '../../service/backup/installation.ts'
import { openDiskBuckets, openS3Buckets } from '../storage/buckets.ts'

const FIRST = { id: FIRST_CLIENT_ID, token: '' }

/**
 * Opens the files of an installation without its index, next to a running service or without one.
 *
 * @param options.mayBeNew whether an empty bucket is permitted. Otherwise, its disk may be read-only
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
    : await openDiskBuckets({ config, baseUrl: '', reserve: NO_RESERVE, isReadOnly: !mayBeNew })
  const secret = config.APP_SECRET ?? (await readAppSecret(join(config.DATA_DIR, 'app-secret')))
  // With a random key, the buckets of clients are unavailable, and reported as such.
  const key = secret === undefined ? randomBytes(32) : appKeys(secret)('bucket credentials')
  const buckets = withOwnBuckets(common, {
    key,
    log: pino({ level: 'silent' }),
    silenceMs: config.S3_TIMEOUT_MS,
  })
  const first = buckets.of(FIRST)
  return {
    first,
    bucketOf: (client) => buckets.of(client),
    clients: (damaged) => clientsIn(first, damaged),
  }
}

async function clientsIn(
  first: Bucket,
  damaged?: (id: string, detail: string) => void,
): Promise<readonly Client[]> {
  if (!damaged) return (await bucketClientStore(first)).list()
  const clients: Client[] = []
  for await (const key of first.list(clientRecordPrefix)) {
    try {
      const client = await readClient(first, key)
      if (client) clients.push(client)
    } catch (error) {
      if (error instanceof Problem) throw error
      damaged(key.slice(clientRecordPrefix.length, -'.json'.length), (error as Error).message)
    }
  }
  return clients
}

import { join } from 'node:path'
import type { Config } from '../../config/load.ts'
import { makeAppSecret, readAppSecret } from '../adapters/app-secret.ts'
import { readClient } from '../adapters/client-store/bucket.ts'
import {
  type Credentials,
  makeCredentials,
  readCredentials,
  saveCredentials,
} from '../adapters/credentials.ts'
import { type Client, FIRST_CLIENT_ID } from '../core/clients/client.ts'
import { createRecovery, type Recovery } from '../core/clients/recovery.ts'
import { clientRecordKey } from '../core/files/object-key.ts'
import type { Log } from '../core/log.ts'
import type { Bucket } from '../core/ports/bucket.ts'
import { type AppKeys, appKeys } from '../core/signing/derive-key.ts'

const WHAT_ENDS =
  "signed links, signed URLs and the credentials of clients' own buckets do not work with a different APP_SECRET"

/**
 * The keys derived from `APP_SECRET`. The secret is created only on the first start of an installation: for a restored
 * bucket, a new one would silently invalidate everything that the former one has signed and sealed.
 *
 * @param options.bucket of the first client
 * @throws Error when the bucket was used with an `APP_SECRET` that is missing here, or that differs from the file
 */
export async function openAppKeys({
  config,
  bucket,
  log,
}: {
  config: Pick<Config, 'APP_SECRET' | 'DATA_DIR'>
  bucket: Bucket
  log: Log
}): Promise<AppKeys> {
  const file = join(config.DATA_DIR, 'app-secret')
  const known = await readClient(bucket, clientRecordKey(FIRST_CLIENT_ID))
  const secret = config.APP_SECRET ?? (await readAppSecret(file))
  if (secret === undefined) {
    if (known?.recovery !== undefined)
      throw new Error(
        `${file} is missing, but the bucket has secrets that are encrypted with it. ${remedy(file, known)}`,
      )
    const keys = appKeys(await makeAppSecret(file))
    log.warn(
      { file },
      'APP_SECRET was created and stored in DATA_DIR. Keep a copy of this file: a backup is the bucket and this file',
    )
    return keys
  }
  const keys = appKeys(secret)
  if (known?.recovery === undefined || createRecovery(keys).unseal(known.recovery) !== undefined) return keys
  if (config.APP_SECRET === undefined)
    throw new Error(
      `${file} does not match the bucket: it belongs to another installation. ${remedy(file, known)}`,
    )
  log.warn({}, `APP_SECRET does not match the bucket: ${WHAT_ENDS}`)
  return keys
}

function remedy(file: string, { token }: Client): string {
  return `Copy the former app-secret to ${file}, or set APP_SECRET to it. If it is lost, set APP_SECRET to a new value, CLIENT_TOKEN=${token} and SECRET_CLIENT_TOKEN: public URLs keep working; ${WHAT_ENDS}`
}

/**
 * The tokens of the first client: from the environment, else from the file, else from the record in the bucket. They are
 * created only on the first start of an installation.
 *
 * @param options.known the first client, if the bucket has a record of it: its public token is part of published URLs
 * @throws Error when the bucket has such a record, and its secret token is not available anywhere
 */
export async function firstCredentials({
  config,
  known,
  recovery,
  log,
}: {
  config: Pick<Config, 'CLIENT_TOKEN' | 'SECRET_CLIENT_TOKEN' | 'DATA_DIR'>
  known: Client | undefined
  recovery: Recovery
  log: Log
}): Promise<Credentials> {
  const { CLIENT_TOKEN: clientToken, SECRET_CLIENT_TOKEN: secretClientToken } = config
  if (clientToken && secretClientToken) return { clientToken, secretClientToken }
  const file = credentialsFile(config)
  const stored = await readCredentials(file)
  if (!known) return stored ?? makeCredentials(file)
  if (stored?.clientToken === known.token) return stored
  const recovered = known.recovery === undefined ? undefined : recovery.unseal(known.recovery)
  if (recovered === undefined)
    throw new Error(
      `${file} ${stored ? 'holds other tokens than the bucket' : 'is missing'}, and the first client's secret token cannot be read from the bucket. Restore the file, or set CLIENT_TOKEN=${known.token}, with which public URLs keep working, and SECRET_CLIENT_TOKEN`,
    )
  const credentials = { clientToken: known.token, secretClientToken: recovered }
  await saveCredentials(file, credentials)
  log.warn({ file }, "the first client's tokens were restored from the bucket into this file")
  return credentials
}

/** The file with the tokens of the first client. It is not used when the environment has them. */
export function credentialsFile({ DATA_DIR }: Pick<Config, 'DATA_DIR'>): string {
  return join(DATA_DIR, 'credentials.json')
}

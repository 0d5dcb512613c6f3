import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { readAll } from '../../core/bytes/asset.ts'
import { FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import type { StorageConnection } from '../../core/clients/client-storage.ts'
import { type ObjectKey, storedKey } from '../../core/files/object-key.ts'
import { isMetadataAddress } from '../../core/net/ip-ranges.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'

/** Connection to a bucket, with the secret key in plain text. */
export interface StorageToTry extends StorageConnection {
  secretAccessKey: string
}

// For five requests. A caller who waits this long has most likely entered a wrong address.
const LIMIT_MS = 10_000
const FOLDER = '.sluice/check/'
const CONTENT = 'Sluice stores, reads, lists and deletes this object to test its access.'

/**
 * Checks that a bucket can be used: puts a small object, reads it, lists it and deletes it.
 *
 * @returns the URL of the bucket in its store, without a trailing slash
 * @throws Problem 422 within ten seconds. Its text has the full error of the server. Its member `reason` has what may be
 *   sent over HTTP: an error code of S3, or `unreachable`
 */
export async function tryStorage(
  { accessKeyId, secretAccessKey, ...options }: StorageToTry,
  { limitMs = LIMIT_MS, isRefused = isMetadataAddress } = {},
): Promise<{ address: string }> {
  const { s3Buckets } = await import('./s3/s3.ts')
  const { bucketAddress } = await import('./s3/client.ts')
  const connection = { ...options, credentials: { accessKeyId, secretAccessKey }, isRefused }
  let address: string
  let bucket: Bucket
  try {
    address = await bucketAddress(options.bucket, connection)
    bucket = (await s3Buckets(connection)).of({ id: FIRST_CLIENT_ID, token: '' })
  } catch (error) {
    throw unusable('address it', error)
  }
  await bucketAccess(bucket, { limitMs })
  return { address }
}

/**
 * Checks the access to a bucket: puts an object, reads it, lists it and deletes it.
 *
 * @param options.bytes size of the object; by default less than one part of a multipart upload
 * @throws Problem 422 as {@link tryStorage}
 */
export async function bucketAccess(
  bucket: Bucket,
  { bytes = CONTENT.length, limitMs = LIMIT_MS }: { bytes?: number; limitMs?: number } = {},
): Promise<void> {
  const signal = AbortSignal.timeout(limitMs)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no response within ${limitMs / 1000} s`)), {
      once: true,
    })
  })
  late.catch(() => {})
  let step = ''
  const doing = <T>(name: string, work: Promise<T>): Promise<T> => {
    step = name
    return Promise.race([work, late])
  }
  try {
    const key = storedKey(`${FOLDER}${randomUUID()}`)
    await useOnce(bucket, { key, content: Buffer.alloc(bytes, CONTENT), doing, signal })
  } catch (error) {
    throw unusable(step, error)
  }
}

async function useOnce(
  bucket: Bucket,
  {
    key,
    content,
    doing,
    signal,
  }: {
    key: ObjectKey
    content: Buffer
    doing: <T>(step: string, work: Promise<T>) => Promise<T>
    signal: AbortSignal
  },
): Promise<void> {
  const put = bucket.put(key, Readable.from([content]), { mediaType: 'text/plain', signal })
  await doing('put an object', put)
  try {
    const asset = await doing('look for the object', bucket.find(key))
    if (!asset) throw new Error('the stored object was not found')
    const bytes = await doing('read the object', readAll(asset))
    if (!content.equals(bytes)) throw new Error('the stored object has other content')
    if (!(await doing('list objects', isListed(bucket, key))))
      throw new Error('the stored object is not listed')
    const { failed } = await doing('delete the object', bucket.delete([key]))
    if (failed[0]) throw failed[0].error
  } catch (error) {
    await bucket.delete([key]).catch(() => {})
    throw error
  }
}

async function isListed(bucket: Bucket, key: ObjectKey): Promise<boolean> {
  for await (const listed of bucket.list(FOLDER)) if (listed === key) return true
  return false
}

function unusable(step: string, error: unknown): Problem {
  return new Problem({
    status: 422,
    code: 'storage_unusable',
    detail: `the bucket cannot be used: could not ${step}: ${reasonOf(error)}`,
    members: { step, reason: publicReason(error) },
    cause: error,
  })
}

// Codes that show which setting is wrong, and reveal nothing about a server that is not an S3 store.
const S3_CODES: ReadonlySet<string> = new Set([
  'AccessDenied',
  'AllAccessDisabled',
  'AuthorizationHeaderMalformed',
  'InvalidAccessKeyId',
  'InvalidBucketName',
  'NoSuchBucket',
  'PermanentRedirect',
  'QuotaExceeded',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
  'SlowDown',
])

/** One word for all failures without an S3 error code: a caller must not learn what listens at an address. */
function publicReason(error: unknown): string {
  const { name } = causeOf(error)
  return S3_CODES.has(name) ? name : 'unreachable'
}

function causeOf(error: unknown): Error {
  return error instanceof Problem && error.cause instanceof Error ? error.cause : (error as Error)
}

/** The error text of the store or of the network. */
function reasonOf(error: unknown): string {
  const { name, message, code } = causeOf(error) as NodeJS.ErrnoException
  if (name === 'AbortError') return 'no response'
  if (/XML parse error/.test(message)) return 'the server is not an S3 store'
  const ofNode = code ?? (name === 'Error' || name === 'TypeError' ? '' : name)
  // "UnknownError" is the text of the SDK for a response without a message.
  const saysMore = message !== 'UnknownError'
  return truncate([ofNode, saysMore ? message : ''].filter((text) => text !== '').join(': ') || message)
}

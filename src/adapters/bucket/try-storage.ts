import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { readAll } from '../../core/asset.ts'
import { FIRST_CLIENT_ID } from '../../core/client.ts'
import type { ClientStorage } from '../../core/client-storage.ts'
import { type ObjectKey, storedKey } from '../../core/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { clipped, Problem } from '../../core/problem.ts'

/** How a bucket is reached, with the secret in the clear. */
export type StorageToTry = Omit<ClientStorage, 'sealedSecret' | 'address' | 'publicUrl'> & {
  secretAccessKey: string
}

// Five requests. Who waits for the answer has made a mistake in an address, mostly.
const LIMIT_MS = 10_000
const FOLDER = '.sluice/check/'
const CONTENT = 'Sluice puts, reads, lists and deletes this to see whether it may.'

/**
 * Puts a small object into a bucket, reads, lists and deletes it.
 *
 * @returns where the bucket is in its store, without a slash at the end
 * @throws Problem 422 with S3's own reason, within ten seconds
 */
export async function tryStorage(
  { accessKeyId, secretAccessKey, ...options }: StorageToTry,
  { limitMs = LIMIT_MS } = {},
): Promise<{ address: string }> {
  const { s3Buckets } = await import('./s3.ts')
  const { bucketAddress } = await import('./s3-client.ts')
  const connection = { ...options, credentials: { accessKeyId, secretAccessKey } }
  const signal = AbortSignal.timeout(limitMs)
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`no answer within ${limitMs / 1000} s`)), {
      once: true,
    })
  })
  late.catch(() => {})
  let step = 'address it'
  const doing = <T>(name: string, work: Promise<T>): Promise<T> => {
    step = name
    return Promise.race([work, late])
  }
  try {
    const address = await bucketAddress(options.bucket, connection)
    const bucket = (await s3Buckets(connection)).of({ id: FIRST_CLIENT_ID, token: '' })
    await useOnce(bucket, { key: storedKey(`${FOLDER}${randomUUID()}`), doing, signal })
    return { address }
  } catch (error) {
    throw unusable(step, error)
  }
}

async function useOnce(
  bucket: Bucket,
  {
    key,
    doing,
    signal,
  }: { key: ObjectKey; doing: <T>(step: string, work: Promise<T>) => Promise<T>; signal: AbortSignal },
): Promise<void> {
  const put = bucket.put(key, Readable.from([Buffer.from(CONTENT)]), { mediaType: 'text/plain', signal })
  await doing('put an object', put)
  try {
    const asset = await doing('look for the object', bucket.find(key))
    if (!asset) throw new Error('what was put is not there')
    const bytes = await doing('read the object', readAll(asset))
    if (Buffer.from(bytes).toString() !== CONTENT) throw new Error('what was put is not what is there')
    if (!(await doing('list objects', isListed(bucket, key)))) throw new Error('what was put is not listed')
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
    cause: error,
  })
}

/** What the store itself has said, or the network. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Problem && error.cause instanceof Error ? error.cause : (error as Error)
  const { name, message, code } = cause as NodeJS.ErrnoException
  if (name === 'AbortError') return 'it does not answer'
  const ofNode = code ?? (name === 'Error' || name === 'TypeError' ? '' : name)
  return clipped([ofNode, message].filter((text) => text !== '' && text !== undefined).join(': '))
}

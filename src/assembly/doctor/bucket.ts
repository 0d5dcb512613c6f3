import type { Config } from '../../../config/load.ts'
import { bucketAccess } from '../../adapters/bucket/try-storage.ts'
import type { Finding } from '../../core/checkup.ts'
import { FIRST_CLIENT_ID } from '../../core/clients/client.ts'
import { s3Options } from '../settings.ts'

// More than one part, so that the object is stored by a multipart upload.
const MULTIPART_BYTES = 9 * 1024 ** 2

/** Puts, reads, lists and deletes test objects, one of them in several parts, and lists incomplete multipart uploads. */
export async function checkBucket(config: Config, name: string): Promise<Finding[]> {
  try {
    const { s3Buckets } = await import('../../adapters/bucket/s3/s3.ts')
    const buckets = await s3Buckets(s3Options(name, config))
    const bucket = buckets.of({ id: FIRST_CLIENT_ID, token: '' })
    const began = performance.now()
    await bucketAccess(bucket)
    const ms = Math.round(performance.now() - began)
    await bucketAccess(bucket, { bytes: MULTIPART_BYTES })
    // Uploads of any age would have to be older than this, so none is aborted.
    await buckets.sweep(Number.MAX_SAFE_INTEGER).catch((error) => {
      throw new Error(`could not list multipart uploads: ${reasonOf(error)}`)
    })
    const did = 'put, read, list, delete and multipart upload work'
    return [{ state: 'ok', found: `S3_BUCKET ${name}: ${did}, five requests took ${ms} ms` }]
  } catch (error) {
    const found = `S3_BUCKET ${name}: ${reasonOf(error as Error)}`
    return [{ state: 'problem', found, advice: adviceFor(found) }]
  }
}

function reasonOf(error: Error): string {
  const { message, cause } = error
  return cause instanceof Error && !message.includes(cause.message)
    ? `${message} (${cause.message})`
    : message
}

// By the words for a step of the check. S3 answers 403 to a read of a missing object without the right to list.
const RIGHTS: ReadonlyArray<readonly [right: string, step: RegExp]> = [
  ['s3:ListBucketMultipartUploads', /could not list multipart uploads/],
  ['s3:PutObject', /could not put/],
  ['s3:GetObject', /could not (look for|read)/],
  ['s3:ListBucket', /could not list/],
  ['s3:DeleteObject', /could not delete/],
]

/** The advice for an error code in a text of S3. */
function adviceFor(text: string): string {
  if (/InvalidAccessKeyId|SignatureDoesNotMatch/.test(text))
    return 'Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'
  if (/AccessDenied|\b403\b/.test(text)) {
    const [right = 'the rights'] = RIGHTS.find(([, step]) => step.test(text)) ?? []
    return `Allow ${right} for this bucket: docs/how-to/s3-and-redis.md has the policy with all rights.`
  }
  if (/credentials/.test(text)) return 'Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.'
  if (/NoSuchBucket/.test(text))
    return 'Create the bucket, or correct S3_BUCKET, AWS_REGION or AWS_ENDPOINT_URL_S3.'
  if (/RequestTimeTooSkewed/.test(text)) return 'Correct the clock of this machine.'
  if (/[Rr]egion/.test(text)) return 'Correct AWS_REGION.'
  return 'Check AWS_ENDPOINT_URL_S3, AWS_REGION and S3_FORCE_PATH_STYLE, and whether this machine can reach the endpoint.'
}

// S3 refuses requests that are 15 minutes early or late. Signed links and secrets with an end are off by the same time.
const REFUSED_MS = 15 * 60_000
const INEXACT_MS = 30_000
const ANSWER_MS = 5000

/** Compares the clock of this machine with the `Date` header of S3, which has whole seconds. */
export async function checkClock(
  config: Config,
  { bucket, now }: { bucket: string; now: () => number },
): Promise<Finding[]> {
  const { bucketAddress } = await import('../../adapters/bucket/s3/client.ts')
  let date: number
  let sent: number
  try {
    const address = await bucketAddress(bucket, s3Options(bucket, config))
    sent = now()
    // Without credentials. Any response has a date, also a 403.
    const response = await fetch(address, { method: 'HEAD', signal: AbortSignal.timeout(ANSWER_MS) })
    date = Date.parse(response.headers.get('date') ?? '')
  } catch {
    return [
      {
        state: 'warning',
        found: 'not compared, because the endpoint of S3 does not respond',
        advice: 'Correct the access to the bucket first.',
      },
    ]
  }
  if (Number.isNaN(date)) return [{ state: 'ok', found: 'not compared: the endpoint of S3 sends no Date' }]
  const offsetMs = (sent + now()) / 2 - date
  const seconds = Math.round(Math.abs(offsetMs) / 1000)
  const found = `${seconds} s ${offsetMs < 0 ? 'behind' : 'ahead of'} the clock of S3`
  const advice = 'Synchronize the clock of this machine with NTP.'
  if (Math.abs(offsetMs) >= REFUSED_MS) return [{ state: 'problem', found, advice }]
  if (Math.abs(offsetMs) >= INEXACT_MS) return [{ state: 'warning', found, advice }]
  return [{ state: 'ok', found }]
}

import { S3ServiceException } from '@aws-sdk/client-s3'
import { fileNotFound, fileReplaced, Problem, storageFull, unavailable } from '../../../core/problem.ts'

// HEAD has no body to tell an object from a bucket that is missing: then it is an object.
const NO_OBJECT = ['NoSuchKey', 'NotFound']
const NO_ROOM = ['QuotaExceeded', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded']

/**
 * What a failure of S3 means to a caller: 404 when there is no such object, else a 503. Its text names S3's error code,
 * which tells an operator most and gives nothing away; the cause has the rest.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (!(error instanceof S3ServiceException)) {
    if ((error as Error).name === 'CredentialsProviderError')
      return unavailable('The service has no credentials for its bucket.', { cause: error })
    return unavailable('The bucket cannot be reached.', { cause: error })
  }
  const status = error.$metadata.httpStatusCode ?? 500
  // A HEAD that fails has no code either.
  const code = error.name === 'Unknown' ? String(status) : error.name
  if (NO_OBJECT.includes(code)) return fileNotFound()
  if (NO_ROOM.includes(code) || status === 507) return storageFull(error)
  if (status === 412) return fileReplaced(error)
  if (status === 401 || status === 403)
    return unavailable(`The bucket refused the credentials of the service (${code}).`, { cause: error })
  if (status < 500 && status !== 408 && status !== 429)
    return unavailable(`The bucket refused a request of the service (${code}).`, { cause: error })
  return unavailable('The bucket reported an internal error or overload.', { cause: error })
}

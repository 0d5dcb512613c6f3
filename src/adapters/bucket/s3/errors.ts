import { S3ServiceException } from '@aws-sdk/client-s3'
import { fileNotFound, fileReplaced, Problem, storageFull, unavailable } from '../../../core/problem.ts'

// HEAD has no body to distinguish a missing object from a missing bucket. A 404 is taken for a missing object.
const NO_OBJECT = ['NoSuchKey', 'NotFound']
const NO_ROOM = ['QuotaExceeded', 'XMinioStorageFull', 'XMinioAdminBucketQuotaExceeded']

/**
 * Converts a failure of S3 into a Problem: 404 when the object does not exist, else 503. The
 * text has the error code of S3, which helps the operator and reveals no secret. The details are in the cause.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (!(error instanceof S3ServiceException)) {
    if ((error as Error).name === 'CredentialsProviderError')
      return unavailable('The service has no credentials for its bucket.', { cause: error })
    return unavailable('The bucket cannot be reached.', { cause: error })
  }
  const status = error.$metadata.httpStatusCode ?? 500
  // A failed HEAD has no error code either.
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

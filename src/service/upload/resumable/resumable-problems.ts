import { Problem } from '../../../core/problem.ts'

/** 404 */
export function uploadNotFound(): Problem {
  return new Problem({
    status: 404,
    code: 'upload_not_found',
    detail: 'Upload not found or expired.',
  })
}

export function notComplete(): Problem {
  return new Problem({
    status: 409,
    code: 'upload_incomplete',
    detail: 'The upload is not complete.',
  })
}

/** 409: only partial uploads can be joined. */
export function notPartial(): Problem {
  return new Problem({
    status: 409,
    code: 'upload_incomplete',
    detail: 'expected uploads that were created with "Upload-Concat: partial"',
  })
}

/** 403: an upload that joins others receives no bytes itself. */
export function joinedUpload(): Problem {
  return new Problem({
    status: 403,
    code: 'joined_upload',
    detail: 'This upload joins others, and accepts no bytes.',
  })
}

/** 409: the bucket does not have all bytes of a direct upload. */
export function notInBucket(detail: string): Problem {
  return new Problem({ status: 409, code: 'upload_incomplete', detail })
}

/** 410 */
export function uploadExpired(): Problem {
  return new Problem({ status: 410, code: 'upload_expired', detail: 'This upload has expired.' })
}

const OTHER_WAYS = 'Use PUT /v1/upload/<name>, POST /v1/upload or POST /v1/tus.'

/** 403: the file has to be sent to the service. */
export function directUploadsOff(reason: string): Problem {
  return new Problem({ status: 403, code: 'direct_uploads_off', detail: `${reason} ${OTHER_WAYS}` })
}

/** 409: a direct upload that is complete cannot be aborted any more. */
export function uploadIsComplete(): Problem {
  return new Problem({
    status: 409,
    code: 'upload_complete',
    detail: 'The upload is complete, and its file is being stored. Delete the file when it is stored.',
  })
}

/** 400: the store did not enforce the size that the URL states. */
export function otherSize({ size, received }: { size: number; received: number }): Problem {
  return new Problem({
    status: 400,
    code: 'size_mismatch',
    detail: `expected ${size} bytes in the bucket but received ${received}; nothing was stored. Begin another upload.`,
    members: { expected: size, received },
  })
}

const PERMANENT = new Set([400, 401, 413, 415])

// Refused by the rules for content.
const PERMANENT_CODES = new Set(['link_used', 'image_size_not_allowed', 'file_not_decodable'])

/** Whether every retry would fail too. Not for a 403: its link becomes valid again when the right `APP_SECRET` is restored. */
export function isPermanentlyRefused(error: unknown): boolean {
  return error instanceof Problem && (PERMANENT.has(error.status) || PERMANENT_CODES.has(error.code))
}

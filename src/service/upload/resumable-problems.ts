import { Problem } from '../../core/problem.ts'

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

const PERMANENT = new Set([400, 401, 413, 415])

// Refused by the rules for content.
const PERMANENT_CODES = new Set(['link_used', 'image_size_not_allowed', 'file_not_decodable'])

/** Whether every retry would fail too. Not for a 403: its link becomes valid again when the right `APP_SECRET` is restored. */
export function isPermanentlyRefused(error: unknown): boolean {
  return error instanceof Problem && (PERMANENT.has(error.status) || PERMANENT_CODES.has(error.code))
}

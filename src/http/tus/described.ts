import type { ProblemName } from '../documents/endpoint.ts'
import { path } from '../documents/parameters.ts'

/** The ID of an upload in several requests, in its path. */
export const UPLOAD_ID = path('id', 'ID of the upload, as in the returned URL.')

/** The headers of the response that creates a resumable upload. */
export const CREATED_HEADERS = [
  'Location',
  'Tus-Resumable',
  'Cache-Control',
  'Upload-Offset',
  'Upload-Expires',
  'Upload-Record',
  'RateLimit',
  'RateLimit-Policy',
] as const

/** The problems of a resumable upload. */
export const TUS_PROBLEMS: readonly ProblemName[] = [
  '400 bad_parameter',
  '404 upload_not_found',
  '410 upload_expired',
  '412 tus_version',
  '423 held_by_another',
  '423 handed_over',
  '501 not_supported',
]
/** The problems of a request that sends bytes of a resumable upload. It may be the last one, which also stores the file. */
export const TUS_BYTES_PROBLEMS: readonly ProblemName[] = [
  '403 joined_upload',
  '409 upload_incomplete',
  '409 offset_conflict',
  '411 length_required',
  '415 unsupported_media_type',
  '415 type_not_allowed',
  '460 checksum_mismatch',
  '503 upload_storing',
]

import type { ProblemName } from '../documents/endpoint.ts'

/** The problems of a URL of a client, with its signature and its path. */
export const SIGNATURE_PROBLEMS: readonly ProblemName[] = [
  '403 url_unsigned',
  '403 url_invalid',
  '403 url_expired',
]
/** The problems of the path of a file. */
export const FILE_PROBLEMS: readonly ProblemName[] = [
  '400 bad_path',
  '404 client_not_found',
  '404 file_not_found',
]
/** The problems of a file whose malware scan has not found it clean. */
export const SCAN_PROBLEMS: readonly ProblemName[] = ['403 file_infected', '423 file_not_scanned']
/** The problems of a response with bytes. */
export const SENT_PROBLEMS: readonly ProblemName[] = [
  '412 precondition_failed',
  '416 range_not_satisfiable',
  '500 file_damaged',
  '503 too_many_slow_readers',
]
/** The problems of a transformation. */
export const TRANSFORMED_PROBLEMS: readonly ProblemName[] = [
  ...SCAN_PROBLEMS,
  '400 unknown_parameter',
  '400 unknown_preset',
  '400 transform_of_derivative',
  '403 presets_only',
  '404 asset_not_found',
  '413 too_large',
  '422 not_transformable',
  '422 truncated_image',
  '422 encrypted_file',
  '422 no_cover',
  '422 format_too_small',
  '422 output_too_large',
  '422 too_much_memory',
  '429 rate_limited',
  '429 variant_limit',
  '501 not_offered',
  '503 storage_full',
]
/** The problems of videos and sound. */
export const MEDIA_PROBLEMS: readonly ProblemName[] = [
  '400 several_files',
  '403 media_jobs_not_allowed',
  '423 not_ready',
  '429 too_many_jobs',
  '501 not_installed',
  '504 no_progress',
]
/** The problems of a file of another server. */
export const FETCHED_PROBLEMS: readonly ProblemName[] = [
  '400 url_not_allowed',
  '403 fetch_not_allowed',
  '404 remote_not_found',
  '422 wrong_type',
  '502 remote_failed',
  '502 remote_status',
  '504 remote_timeout',
]
/** The problems of a stored file, and of its derivatives. */
export const DELIVERED_PROBLEMS: readonly ProblemName[] = [
  ...SIGNATURE_PROBLEMS,
  '400 bad_parameter',
  ...FILE_PROBLEMS,
  ...SENT_PROBLEMS,
  ...TRANSFORMED_PROBLEMS,
  ...MEDIA_PROBLEMS,
]

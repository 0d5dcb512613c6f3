/** Status and code of a problem, as a response has them: `'404 file_not_found'`. */
export type ProblemName = `${number} ${string}`

export const QUERY: readonly ProblemName[] = ['400 bad_parameter']
export const JSON_BODY: readonly ProblemName[] = [
  '400 bad_json',
  '400 bad_parameter',
  '413 too_large',
  '415 unsupported_media_type',
]
/** The last ones are of a member of the console, who sends `Sluice-Client` instead of a secret. */
export const SECRET: readonly ProblemName[] = [
  '401 unauthorized',
  '403 out_of_scope',
  '400 bad_parameter',
  '401 not_signed_in',
  '403 role_forbids',
  '404 client_not_found',
]
export const SIGNATURE: readonly ProblemName[] = ['403 url_unsigned', '403 url_invalid', '403 url_expired']
export const FILE: readonly ProblemName[] = ['400 bad_path', '404 client_not_found', '404 file_not_found']
export const ALIAS: readonly ProblemName[] = ['400 bad_path', '404 alias_not_found']
export const SENT: readonly ProblemName[] = [
  '412 precondition_failed',
  '416 range_not_satisfiable',
  '500 file_damaged',
  '503 too_many_slow_readers',
]
export const TRANSFORMED: readonly ProblemName[] = [
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
export const MEDIA: readonly ProblemName[] = [
  '400 several_files',
  '403 media_jobs_not_allowed',
  '423 not_ready',
  '429 too_many_jobs',
  '501 not_installed',
  '504 no_progress',
]
export const FETCHED: readonly ProblemName[] = [
  '400 url_not_allowed',
  '403 fetch_not_allowed',
  '404 remote_not_found',
  '422 wrong_type',
  '502 remote_failed',
  '502 remote_status',
  '504 remote_timeout',
]
export const STORED: readonly ProblemName[] = [
  '413 too_large',
  '415 type_not_allowed',
  '422 image_size_not_allowed',
  '422 file_not_decodable',
  '429 rate_limited',
  '501 not_installed',
  '503 storage_full',
]
/** A URL of another service. */
export const COMPAT: readonly ProblemName[] = [
  ...SIGNATURE,
  ...FILE,
  ...TRANSFORMED,
  ...MEDIA,
  ...FETCHED,
  ...SENT,
  '400 bad_parameter',
  '400 no_equivalent',
  '404 alias_of_other_type',
]
export const FORM: readonly ProblemName[] = ['400 bad_multipart', '400 bad_parameter', '400 bad_json']
export const LINK: readonly ProblemName[] = [
  '403 link_invalid',
  '403 link_expired',
  '409 link_used',
  '409 link_busy',
  '415 type_not_allowed',
]
export const TUS: readonly ProblemName[] = [
  '400 bad_parameter',
  '404 upload_not_found',
  '410 upload_expired',
  '412 tus_version',
  '423 held_by_another',
  '423 handed_over',
  '501 not_supported',
]
/** The problems of a request that sends bytes of a resumable upload. It may be the last one, which also stores the file. */
export const TUS_BYTES: readonly ProblemName[] = [
  '403 joined_upload',
  '409 upload_incomplete',
  '409 offset_conflict',
  '411 length_required',
  '415 unsupported_media_type',
  '415 type_not_allowed',
  '460 checksum_mismatch',
  '503 upload_storing',
]
export const ADMIN: readonly ProblemName[] = [
  '401 not_signed_in',
  '403 role_forbids',
  '403 sign_in_off',
  '429 rate_limited',
]
/** Of endpoints that take a session of the operator or the secret of a client. */
export const OPERATOR_OR_SECRET: readonly ProblemName[] = [...SECRET, '403 sign_in_off']
/** Objects of other systems. */
export const FOREIGN: readonly ProblemName[] = [...FILE, ...SENT, ...TRANSFORMED, '400 only_pictures']

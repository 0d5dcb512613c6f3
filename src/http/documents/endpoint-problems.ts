import { DEFINED } from './endpoints.ts'
import {
  ALIAS,
  COMPAT,
  FETCHED,
  FILE,
  FOREIGN,
  FORM,
  LINK,
  MEDIA,
  type ProblemName,
  QUERY,
  SECRET,
  SENT,
  SIGNATURE,
  STORED,
  TRANSFORMED,
  TUS,
  TUS_BYTES,
} from './problem-groups.ts'

/**
 * Problems of the guards before the routes and of the whole process: every endpoint may respond with them. Express refuses a
 * few requests with another 4xx status as `bad_request`.
 */
export const EVERY_ENDPOINT: readonly ProblemName[] = [
  '400 bad_request',
  '400 too_many_parameters',
  '400 digest_mismatch',
  '403 worker_script',
  '404 route_not_found',
  '405 method_not_allowed',
  '408 request_timeout',
  '408 slow_body',
  '417 expectation_failed',
  '429 too_many_connections',
  '429 too_many_waiting',
  '431 headers_too_large',
  '500 internal',
  '501 unknown_transfer_coding',
  '503 unavailable',
]

/**
 * The problems of each endpoint, in addition to those of all endpoints: by method and route, as the log and the metrics name it.
 * HEAD is like GET. The tests of the service fail for a problem that is not listed, and `npm run readme` writes the table of
 * docs/reference/errors.md.
 */
export const ENDPOINT_PROBLEMS: Readonly<Record<string, readonly ProblemName[]>> = {
  'PUT /v1/upload/sign/:id/:signature/*folder': [
    ...LINK,
    ...QUERY,
    '404 client_not_found',
    '415 unsupported_media_type',
    ...STORED,
  ],
  'POST /v1/upload/sign/:id/:signature/*folder': [
    ...LINK,
    ...QUERY,
    ...FORM,
    '404 client_not_found',
    '415 unsupported_media_type',
    ...STORED,
    ...TUS,
    ...TUS_BYTES,
  ],
  'POST /v1/tus': [...SECRET, '400 bad_path', ...STORED, ...TUS, ...TUS_BYTES],
  'PATCH /v1/tus/:id': [...SECRET, ...LINK, ...STORED, ...TUS, ...TUS_BYTES],
  'GET /v1/tus/:id': [...SECRET, ...LINK, ...TUS, '503 upload_storing'],
  'DELETE /v1/tus/:id': [...SECRET, ...LINK, ...TUS, '409 upload_incomplete'],

  'GET /v1/:group/upload/:token/*path': [...SIGNATURE, ...QUERY, ...FILE, ...SENT, ...TRANSFORMED, ...MEDIA],
  'GET /v1/:group/alias/:token/*path': [
    ...SIGNATURE,
    ...QUERY,
    ...ALIAS,
    '404 alias_of_other_type',
    '404 alias_target_missing',
    '404 client_not_found',
    ...SENT,
    ...TRANSFORMED,
    ...MEDIA,
  ],
  'GET /compat/cloudinary/:token/*path': COMPAT,
  'GET /compat/imgproxy/:token/*path': COMPAT,
  'GET /compat/openinary/:token/*path': COMPAT,
  'GET /compat/default-uploader/:token/*path': COMPAT,
  'GET /v1/bucket/:token/*path': [...SIGNATURE, ...QUERY, ...FILE, ...SENT],
  'GET /v1/:group/foreign/:token/*path': [...SIGNATURE, ...QUERY, ...FOREIGN],
  'GET /v1/:group/fetch/:token/:url': [
    ...SIGNATURE,
    ...QUERY,
    '404 client_not_found',
    '400 only_pictures',
    ...FETCHED,
    ...TRANSFORMED,
    ...SENT,
  ],
  'GET /v1/:group/fetch/keep/:token/:url': [
    ...SIGNATURE,
    ...QUERY,
    ...FILE,
    ...FETCHED,
    ...STORED,
    ...TRANSFORMED,
    ...MEDIA,
    ...SENT,
  ],
  'GET /v1/:group/fetch/:token/*path': ['400 url_not_allowed', '404 client_not_found'],
  'GET /v1/:group/info/:token/*path': [
    ...SIGNATURE,
    ...QUERY,
    ...FILE,
    '400 unknown_parameter',
    '400 information_of_derivative',
    '412 precondition_failed',
    '416 range_not_satisfiable',
    '422 not_transformable',
    '422 truncated_image',
    '422 encrypted_file',
    '422 no_cover',
    '422 too_much_memory',
    '429 rate_limited',
    '500 file_damaged',
    '501 not_installed',
  ],
  'GET /v1/jobs/:token/*path': [...SIGNATURE, ...QUERY, ...FILE, '429 too_many_followers'],

  ...Object.fromEntries(DEFINED.map(({ route, problems }) => [route, problems])),

  'GET /v1/parameters': [],
  'GET /v1/openapi.json': [],
  'GET /docs/api': [],
  'GET /docs/api/:file': [],
  'GET /dashboard': [],
  'GET /dashboard/{*page}': [],
  'GET /dashboard/assets/:file': [],
  'GET /metrics': ['401 unauthorized'],
}

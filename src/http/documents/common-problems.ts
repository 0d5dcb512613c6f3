import type { ProblemName } from './endpoint.ts'

/**
 * Problems of the guards before the routes and of the whole process: every endpoint may respond with them. Express refuses a
 * few requests with another 4xx status as `bad_request`.
 */
export const COMMON_PROBLEMS: readonly ProblemName[] = [
  '400 bad_request',
  '400 too_many_parameters',
  '400 digest_mismatch',
  '403 address_not_allowed',
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

import type { SpanEnd } from '../../core/ports/telemetry/tracing.ts'

// The methods that the semantic conventions list. Others would be names without a limit.
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT', 'TRACE', 'QUERY']

/**
 * The end of the span of a request. It has neither the query nor the address of the caller, which the log does not have either.
 *
 * @param request.path without secrets
 * @see https://opentelemetry.io/docs/specs/semconv/http/http-spans/
 */
export function requestSpanEnd({
  route,
  method,
  path,
  client,
  status,
  code,
  bytes,
  receivedBytes,
  isComplete,
  hasBrokenOff,
}: {
  route: string | undefined
  method: string
  path: string
  client: string | undefined
  status: number | 'aborted'
  code: string | undefined
  bytes: number
  receivedBytes: number
  /** Whether all of the response was written. */
  isComplete: boolean
  /** Whether a failure of this service has ended the response after its head. */
  hasBrokenOff: boolean
}): SpanEnd {
  const known = METHODS.includes(method) ? method : '_OTHER'
  const named = known === '_OTHER' ? 'HTTP' : known
  const hasFailed = hasBrokenOff || (status !== 'aborted' && status >= 500)
  return {
    name: route === undefined ? named : `${named} ${route}`,
    attributes: {
      'http.request.method': known,
      'http.request.method_original': known === method ? undefined : method,
      'http.route': route,
      'http.response.status_code': status === 'aborted' ? undefined : status,
      'url.path': path,
      'http.request.size': receivedBytes,
      'http.response.size': bytes,
      'error.type': hasFailed ? String(hasBrokenOff ? code : status) : undefined,
      'sluice.client': client,
      'sluice.problem': code,
      'sluice.aborted': status === 'aborted' ? true : undefined,
      'sluice.complete': isComplete ? undefined : false,
    },
    hasFailed,
  }
}

import type { Fetcher } from '../../core/ports/fetcher.ts'
import type { Tracing } from '../../core/ports/telemetry/tracing.ts'

/**
 * Wraps a fetcher: each request has a span until the head of its last response. It has no path: that may give access.
 *
 * @param target what the requests are for, in the name of the span: `POST webhook`
 */
export function tracedFetcher(
  fetcher: Fetcher,
  { tracing, target }: { tracing: Tracing; target: string },
): Fetcher {
  return {
    ...fetcher,
    fetch(request) {
      const { method = 'GET', url } = request
      const { hostname, port, protocol } = URL.canParse(url) ? new URL(url) : EMPTY
      const scheme = protocol.slice(0, -1)
      const attributes = {
        'http.request.method': method,
        'url.scheme': scheme,
        'server.address': hostname,
        'server.port': Number(port) || (scheme === 'http' ? 80 : 443),
      }
      return tracing.within(`${method} ${target}`, { kind: 'client', attributes }, async (span) => {
        const fetched = await fetcher.fetch(request)
        const { status } = fetched
        const hasFailed = status >= 400
        const failure = hasFailed ? { 'error.type': String(status) } : {}
        span?.end({ attributes: { 'http.response.status_code': status, ...failure }, hasFailed })
        return fetched
      })
    },
  }
}

const EMPTY = { hostname: '', port: '', protocol: '' }

import type { IncomingMessage } from 'node:http'

const PROXY_HEADERS = /^(via|forwarded|x-forwarded-.*|cf-ray|x-varnish)$/

/**
 * Whether a request comes straight from a client: HTTP/1.1 or later and without the marks that proxies and caches
 * leave. Behind nginx's proxy_cache a `Content-Range` on a 200 breaks videos, Varnish answers 503.
 */
export function isDirect({ headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  if (httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor < 1)) return false
  return !Object.keys(headers).some((name) => PROXY_HEADERS.test(name))
}

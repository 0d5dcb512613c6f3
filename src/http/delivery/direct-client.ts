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

/**
 * Whether the client is aria2, whatever it calls itself: it asks for digests in the way of RFC 3230, which nobody else
 * does. From a `Content-Range` without a slash it reads that the file is empty, and ends well with no bytes.
 */
export function isAria2({ headers }: IncomingMessage): boolean {
  return headers['want-digest'] !== undefined
}

import type { IncomingMessage } from 'node:http'

const PROXY_HEADERS = /^(via|forwarded|x-forwarded-.*|cf-ray|x-varnish)$/

/**
 * Whether a request comes directly from a client: HTTP/1.1 or later, and without the headers that proxies and caches add. With
 * a `Content-Range` on a 200, videos fail behind nginx's proxy_cache, and Varnish responds with 503.
 */
export function isDirect({ headers, httpVersionMajor, httpVersionMinor }: IncomingMessage): boolean {
  if (httpVersionMajor < 1 || (httpVersionMajor === 1 && httpVersionMinor < 1)) return false
  return !Object.keys(headers).some((name) => PROXY_HEADERS.test(name))
}

/**
 * Whether the client is aria2, whatever its `User-Agent`: no other client requests digests as in RFC 3230. From a
 * `Content-Range` without a slash it concludes that the file is empty, and succeeds without any bytes.
 */
export function isAria2({ headers }: IncomingMessage): boolean {
  return headers['want-digest'] !== undefined
}

import type { RequestHandler } from 'express'

// Endpoints that need a secret. Deliveries, tus and signed links have CORS headers of their own, for pages of any origin.
const PATHS = /^\/v1\/(?:files|folders|aliases|upload|sign|zip|usage|presets)(?:\/|$)/
const SIGNED_LINKS = '/v1/upload/sign/'

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
const ALLOWED_HEADERS = [
  'Authorization, Content-Type, Content-Disposition, If-Match, Content-Digest, Repr-Digest, Content-MD5',
  'Idempotency-Key, X-Requested-With, X-Request-Id',
].join(', ')
const EXPOSED_HEADERS = [
  'Content-Disposition, Content-Length, ETag, Location, RateLimit, RateLimit-Policy',
  'Retry-After, X-Request-Id',
].join(', ')
// Browsers cache it for two hours at most.
const MAX_AGE_SECONDS = 7200

/**
 * Permits pages of these origins to send requests with a secret and to read the responses. There is no header that
 * permits cookies, since Sluice reads the secret from `Authorization` only. Without origins, every request passes
 * unchanged.
 *
 * @param origins as browsers send them: scheme, host and port, in lower case
 */
export function crossOrigin(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins)
  return (req, res, next) => {
    if (allowed.size === 0 || !PATHS.test(req.path) || req.path.startsWith(SIGNED_LINKS)) return next()
    res.vary('Origin')
    const origin = req.get('Origin')
    if (origin === undefined || !allowed.has(origin)) return next()
    res.setHeader('Access-Control-Allow-Origin', origin)
    res.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS)
    if (req.method !== 'OPTIONS' || req.get('Access-Control-Request-Method') === undefined) return next()
    res.vary('Access-Control-Request-Method')
    res.vary('Access-Control-Request-Headers')
    res.setHeader('Access-Control-Allow-Methods', METHODS)
    res.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS)
    res.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS)
    res.status(204).end()
  }
}

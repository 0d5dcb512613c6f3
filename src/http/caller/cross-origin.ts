import { type RequestHandler, Router } from 'express'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import { pathOf } from '../endpoint/route.ts'

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
 * Permits pages of these origins to send requests with a secret and to read the responses. No header here
 * permits cookies, since Sluice reads the secret from `Authorization` only. Without origins, every request passes
 * unchanged. Deliveries have CORS headers of their own, see `permitRead`.
 *
 * @param origins as browsers send them: scheme, host and port, in lower case
 * @param endpoints all endpoints of the service
 */
export function crossOrigin(
  origins: readonly string[],
  endpoints: ReadonlyArray<Pick<ServedEndpoint<never>, 'route' | 'access' | 'first' | 'passesOn'>>,
): RequestHandler {
  const routes = Router({ strict: true, caseSensitive: true })
  if (origins.length === 0) return routes
  const prefixes = prefixesWithSecret(endpoints)
  const permitted = permit(new Set(origins))
  // They have the form of those with CORS headers of their own: `POST /v1/jobs/:id/retry` has that of a state of a job.
  for (const { route, access, passesOn } of endpoints)
    if (passesOn && access !== 'public') routes.all(pathOf(route), permitted)
  // Signed links, tus and the states of jobs have CORS headers of their own, for pages of any origin.
  for (const { route, first } of endpoints) {
    if (first && prefixes.includes(prefixOf(route)))
      routes.all(pathOf(route), (_req, _res, next) => next('router'))
  }
  return routes.use(prefixes, permitted)
}

/** The beginnings of the paths of all endpoints that accept the secret of a client: `/v1/files`. */
export function prefixesWithSecret(
  endpoints: ReadonlyArray<Pick<ServedEndpoint<never>, 'route' | 'access'>>,
): string[] {
  const withSecret = endpoints.filter(({ access }) => typeof access === 'object')
  return [...new Set(withSecret.map(({ route }) => prefixOf(route)))]
}

function prefixOf(route: string): string {
  return /\/v1\/\w+/.exec(route)?.[0] ?? ''
}

function permit(allowed: ReadonlySet<string>): RequestHandler {
  return (req, res, next) => {
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

import { createHash, timingSafeEqual } from 'node:crypto'
import { Router } from 'express'
import { METRICS_CONTENT_TYPE } from '../../core/ports/metrics.ts'
import { Problem } from '../../core/problem.ts'
import { methodNotAllowed } from '../problem.ts'

/** Access to `/metrics` on the service's own port. */
export interface MetricsAccess {
  /** The bearer token that a request must have. */
  token: string
  /** Returns the metrics in the text format of Prometheus. */
  read(): Promise<string>
}

/** `GET /metrics` with `Authorization: Bearer <token>`. */
export function metricsRoutes({ token, read }: MetricsAccess): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/metrics', async (req, res) => {
    if (!same(req.headers.authorization ?? '', `Bearer ${token}`)) throw unauthorized()
    res.setHeader('Cache-Control', 'no-store')
    res.setHeader('Content-Type', METRICS_CONTENT_TYPE)
    res.end(await read())
  })
  routes.all('/metrics', methodNotAllowed('GET', 'HEAD'))
  return routes
}

/** Compares in constant time. */
function same(received: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(received), digest(expected))
}

function unauthorized(): Problem {
  return new Problem({
    status: 401,
    code: 'unauthorized',
    detail: 'expected METRICS_TOKEN as "Authorization: Bearer <token>"',
    headers: { 'WWW-Authenticate': 'Bearer realm="sluice-metrics"' },
  })
}

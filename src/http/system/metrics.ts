import { createHash, timingSafeEqual } from 'node:crypto'
import { METRICS_CONTENT_TYPE } from '../../core/ports/metrics.ts'
import { Problem } from '../../core/problem.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'

/** Access to `/metrics` on the service's own port. */
export interface MetricsAccess {
  /** The bearer token that a request must have. */
  token: string
  /** Returns the metrics in the text format of Prometheus. */
  read(): Promise<string>
}

/** The metrics of this process. */
export const getMetrics: ServedEndpoint<{ metricsAccess?: MetricsAccess | undefined }> = {
  route: 'GET /metrics',
  id: 'getMetrics',
  tag: 'Service',
  summary: 'Get the Prometheus metrics, if the operator has set METRICS_TOKEN',
  access: 'metrics',
  responses: {
    200: {
      description: 'The metrics.',
      content: { 'text/plain': { json: { type: 'string' } } },
      headers: ['Cache-Control'],
    },
  },
  examples: [{ id: 'all', summary: 'All metrics', status: 200 }],
  problems: ['401 unauthorized'],

  handlerOf({ metricsAccess }) {
    if (!metricsAccess) return undefined
    const { token, read } = metricsAccess
    return async (req, res) => {
      if (!same(req.headers.authorization ?? '', `Bearer ${token}`)) throw unauthorized()
      res.setHeader('Cache-Control', 'no-store')
      res.setHeader('Content-Type', METRICS_CONTENT_TYPE)
      res.end(await read())
    }
  },
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

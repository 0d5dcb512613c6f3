import { Router } from 'express'
import { methodNotAllowed } from './problem.ts'

/** What must work for requests to be answered, each a check that throws when it does not. */
export type ReadinessChecks = Readonly<Record<string, () => Promise<void>>>

/**
 * `GET /healthz`: 200 while the process lives. `GET /readyz`: 200 when it can serve, else 503, with each check.
 */
export function healthRoutes(checks: ReadinessChecks): Router {
  const routes = Router()
  routes.get('/healthz', (_req, res) => {
    res.setHeader('Cache-Control', 'no-store')
    res.json({ status: 'ok' })
  })
  routes.get('/readyz', async (_req, res) => {
    const outcomes = await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const works = await check().then(
          () => true,
          () => false,
        )
        return [name, works ? 'ok' : 'unavailable'] as const
      }),
    )
    const ready = outcomes.every(([, outcome]) => outcome === 'ok')
    res.setHeader('Cache-Control', 'no-store')
    if (!ready) res.setHeader('Retry-After', '5')
    res
      .status(ready ? 200 : 503)
      .json({ status: ready ? 'ok' : 'unavailable', checks: Object.fromEntries(outcomes) })
  })
  routes.all(['/healthz', '/readyz'], methodNotAllowed('GET', 'HEAD'))
  return routes
}

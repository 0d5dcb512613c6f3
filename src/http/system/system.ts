import { Router } from 'express'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import { checkOperator } from '../caller/operator.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, queryPairs } from '../request.ts'
import type { SystemReport } from '../wire/system.ts'
import { type ReadinessChecks, readinessOf } from './health.ts'

/** What does not change while the process runs. It contains no secrets. */
export type SystemFacts = Pick<SystemReport, 'storage' | 'plugins' | 'settings'>

/** `GET /v1/system`: the state of the installation, for a signed-in operator. */
export function systemRoutes({
  adminSessions,
  checks,
  systemFacts,
}: {
  adminSessions: AdminSessions
  checks: ReadinessChecks
  systemFacts: SystemFacts
}): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/v1/system', async (req, res) => {
    checkOperator(req, adminSessions)
    checkNames(queryPairs(req), [])
    const report: SystemReport = {
      ...(await readinessOf(checks)),
      nodeVersion: process.versions.node,
      uptimeSeconds: Math.floor(process.uptime()),
      ...systemFacts,
    }
    res.setHeader('Cache-Control', 'no-store')
    res.json(report)
  })
  routes.all('/v1/system', methodNotAllowed('GET', 'HEAD'))
  return routes
}

import { Router } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { badParameter } from '../../core/problem.ts'
import { daysBetween } from '../../core/text/day.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import type { Usage } from '../../service/files/usage.ts'
import { checkOperator } from '../caller/operator.ts'
import { readPeriod } from '../files/usage-route.ts'
import { methodNotAllowed } from '../problem.ts'
import { queryPairs } from '../request.ts'
import type { ClientUsageReport } from '../wire/operator/usage.ts'

interface Dependencies {
  adminSessions: AdminSessions
  usage: Usage
  listClients: () => readonly Client[]
}

// One row of 100 bytes each, and one read of the store. One day is always permitted.
const ROWS_MAX = 50_000

/** `GET /v1/clients/usage?from=<day>&to=<day>`: the usage of all clients per day, in UTC, for the operator. */
export function clientUsageRoutes({ adminSessions, usage, listClients }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/v1/clients/usage', async (req, res) => {
    checkOperator(req, adminSessions)
    const period = readPeriod(queryPairs(req))
    const clients = listClients().map(({ id }) => id)
    const daysMax = Math.max(1, Math.floor(ROWS_MAX / Math.max(1, clients.length)))
    if (daysBetween(period.from, period.to).length > daysMax)
      throw badParameter({
        param: 'from',
        expected: `at most ${daysMax} ${daysMax === 1 ? 'day' : 'days'} for ${clients.length} clients`,
        received: period.from,
      })
    const days = await usage.ofClients(clients, period)
    res.setHeader('Cache-Control', 'no-store')
    const report: ClientUsageReport = {
      days: days.map(({ clientId: client, day, storedBytes, deliveredBytes: bytes, ...counts }) => ({
        day,
        client,
        ...(storedBytes === undefined ? {} : { storedBytes }),
        ...counts,
        bytes,
      })),
    }
    res.json(report)
  })
  routes.all('/v1/clients/usage', methodNotAllowed('GET', 'HEAD'))
  return routes
}

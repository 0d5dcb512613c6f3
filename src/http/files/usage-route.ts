import { Router } from 'express'
import { checkEverywhere } from '../../core/clients/grant.ts'
import { USAGE_RETENTION_DAYS } from '../../core/ports/usage.ts'
import { badParameter } from '../../core/problem.ts'
import { type Day, dayOf, daysBefore, daysBetween } from '../../core/text/day.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Period, Usage } from '../../service/files/usage.ts'
import { callerBySecret } from '../caller/caller.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, onlyValue, type QueryPairs, queryPairs } from '../request.ts'
import type { UsageReport } from '../wire/outcomes.ts'

const DEFAULT_DAYS = 30

/** `GET /v1/usage?from=<day>&to=<day>`: stored files of a client, and its usage per day, in UTC. */
export function usageRoutes({ clients, usage }: { clients: Clients; usage: Usage }): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/v1/usage', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    checkEverywhere(grant)
    const { stored, days } = await usage.of(grant.client.id, readPeriod(queryPairs(req)))
    res.setHeader('Cache-Control', 'no-store')
    const report: UsageReport = {
      files: stored.stored.files,
      storedBytes: stored.stored.bytes,
      deletedFiles: stored.trashed.files,
      deletedBytes: stored.trashed.bytes,
      days,
    }
    res.json(report)
  })
  routes.all('/v1/usage', methodNotAllowed('GET', 'HEAD'))
  return routes
}

/** Parses `from` and `to`. Default: the last 30 days. @throws Problem 400 */
export function readPeriod(query: QueryPairs): Period {
  checkNames(query, ['from', 'to'])
  const to = dayIn(query, 'to') ?? dayOf(Date.now())
  const from = dayIn(query, 'from') ?? daysBefore(to, DEFAULT_DAYS - 1)
  const count = from > to ? 0 : daysBetween(from, daysBefore(to, 0)).length
  if (count < 1 || count > USAGE_RETENTION_DAYS)
    throw badParameter({
      param: 'from',
      expected: `a day not after to (at most ${USAGE_RETENTION_DAYS - 1} days before it)`,
      received: from,
    })
  return { from, to }
}

/** Parses a day. @throws Problem 400 */
export function dayIn(query: QueryPairs, param: string): Day | undefined {
  const received = onlyValue(query, param)
  if (received === undefined) return undefined
  const at = /^20\d\d-\d\d-\d\d$/.test(received) ? Date.parse(received) : Number.NaN
  if (!Number.isNaN(at) && dayOf(at) === received) return received
  throw badParameter({ param, expected: 'a day like 2026-11-30', received })
}

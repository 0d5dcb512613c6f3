import { Router } from 'express'
import { isEntryId } from '../../core/ports/audit-log.ts'
import { badParameter } from '../../core/problem.ts'
import type { AuditTrail } from '../../service/admin/audit.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import { checkOperator } from '../caller/operator.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, onlyValue, pageLimit, type QueryPairs, queryPairs } from '../request.ts'
import type { AuditEntries } from '../wire/operator/audit.ts'

interface Dependencies {
  adminSessions: AdminSessions
  audit: AuditTrail
}

/** `GET /v1/audit`: the changes by people, the latest first, for the operator. */
export function auditRoutes({ adminSessions, audit }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/v1/audit', async (req, res) => {
    checkOperator(req, adminSessions)
    const query = queryPairs(req)
    checkNames(query, ['limit', 'cursor', 'client', 'member'])
    const limit = pageLimit(query)
    // One more shows whether there is a further page.
    const found = await audit.list({
      client: onlyValue(query, 'client'),
      member: onlyValue(query, 'member'),
      before: cursorIn(query),
      limit: limit + 1,
    })
    const entries = found.slice(0, limit)
    const last = found.length > limit ? entries.at(-1) : undefined
    res.setHeader('Cache-Control', 'no-store')
    const page: AuditEntries = {
      entries: entries.map(({ at, ...entry }) => ({ ...entry, at: new Date(at).toISOString() })),
      ...(last ? { next: last.id } : {}),
    }
    res.json(page)
  })
  routes.all('/v1/audit', methodNotAllowed('GET', 'HEAD'))
  return routes
}

function cursorIn(query: QueryPairs): string | undefined {
  const cursor = onlyValue(query, 'cursor')
  if (cursor === undefined || isEntryId(cursor)) return cursor
  throw badParameter({ param: 'cursor', expected: 'a cursor of an earlier response', received: cursor })
}

import { type Request, type RequestHandler, Router } from 'express'
import { badParameter, Problem } from '../../core/problem.ts'
import type { ManagedClients } from '../../service/admin/clients.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import { jsonBody } from '../body/json.ts'
import { checkOperator } from '../caller/operator.ts'
import { methodNotAllowed } from '../problem.ts'
import { clientGone, hasBody, queryPairs } from '../request.ts'
import { stateOf } from '../request-state.ts'
import {
  readClientChanges,
  readNewClient,
  readNewSecret,
  readRotation,
  readStorage,
} from './client-request.ts'

/** The route parameters. A type, not an interface, since Express requires an index signature. */
type Names = { id: string; secretId: string; version: string }

interface Dependencies {
  adminSessions: AdminSessions
  managedClients: ManagedClients
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// 100 presets of 20 parameters each.
const BODY_MAX_BYTES = 256 * 1024

/** `/v1/clients`: the functions of `sluice client`, for a signed-in operator. */
export function clientsRoutes({ adminSessions, managedClients, minBytesPerSecond }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const body = (req: Request) => jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
  const respondWith =
    (work: (req: Request<Names>, signal: AbortSignal) => Promise<unknown>): RequestHandler =>
    async (req, res) => {
      const result = await work(req as Request<Names>, clientGone(res)).catch(withoutServerResponse)
      res.setHeader('Cache-Control', 'no-store')
      res.json(result)
    }

  routes.use('/v1/clients', (req, _res, next) => {
    checkOperator(req, adminSessions)
    next()
  })
  routes.get(
    '/v1/clients',
    respondWith(() => managedClients.list()),
  )
  routes.post(
    '/v1/clients',
    respondWith(async (req) => {
      const created = await managedClients.create(readNewClient(await body(req)))
      stateOf(req).audited = { target: created.id }
      return created
    }),
  )
  routes.all('/v1/clients', methodNotAllowed('GET', 'HEAD', 'POST'))
  routes.get(
    '/v1/clients/:id',
    respondWith(({ params }) => managedClients.show(params.id)),
  )
  routes.patch(
    '/v1/clients/:id',
    respondWith(async (req) => {
      const changes = readClientChanges(await body(req))
      const changed = [...(changes.name === undefined ? [] : ['name']), ...Object.keys(changes.rules ?? {})]
      stateOf(req).audited = { details: { changed: changed.join(', ') } }
      return managedClients.update(req.params.id, changes)
    }),
  )
  // A disconnect aborts the removal, as Ctrl-C does on the command line. The next call continues it.
  routes.delete(
    '/v1/clients/:id',
    respondWith((req, signal) =>
      managedClients.remove(req.params.id, { files: readFilesFlag(req), signal, progress: async () => {} }),
    ),
  )
  routes.all('/v1/clients/:id', methodNotAllowed('GET', 'HEAD', 'PATCH', 'DELETE'))
  routes.put(
    '/v1/clients/:id/storage',
    respondWith(async (req) => managedClients.setStorage(req.params.id, readStorage(await body(req)))),
  )
  routes.delete(
    '/v1/clients/:id/storage',
    respondWith(({ params }) => managedClients.setStorage(params.id, undefined)),
  )
  routes.all('/v1/clients/:id/storage', methodNotAllowed('PUT', 'DELETE'))
  routes.post(
    '/v1/clients/:id/storage/test',
    respondWith(async (req) => {
      const settings = hasBody(req) ? readStorage(await body(req)) : undefined
      return managedClients.testStorage(req.params.id, settings)
    }),
  )
  routes.all('/v1/clients/:id/storage/test', methodNotAllowed('POST'))
  routes.post(
    '/v1/clients/:id/rotate',
    respondWith(async (req) =>
      managedClients.rotate(req.params.id, readRotation(hasBody(req) ? await body(req) : {})),
    ),
  )
  routes.all('/v1/clients/:id/rotate', methodNotAllowed('POST'))
  routes.post(
    '/v1/clients/:id/keys',
    respondWith(({ params }) => managedClients.addUrlKey(params.id)),
  )
  routes.all('/v1/clients/:id/keys', methodNotAllowed('POST'))
  routes.delete(
    '/v1/clients/:id/keys/:version',
    respondWith(({ params }) => managedClients.removeUrlKey(params.id, Number(params.version))),
  )
  routes.all('/v1/clients/:id/keys/:version', methodNotAllowed('DELETE'))
  routes.post(
    '/v1/clients/:id/secrets',
    respondWith(async (req) => managedClients.addSecret(req.params.id, readNewSecret(await body(req)))),
  )
  routes.all('/v1/clients/:id/secrets', methodNotAllowed('POST'))
  routes.delete(
    '/v1/clients/:id/secrets/:secretId',
    respondWith(({ params }) => managedClients.removeSecret(params.id, params.secretId)),
  )
  routes.all('/v1/clients/:id/secrets/:secretId', methodNotAllowed('DELETE'))
  return routes
}

/**
 * Leaves the server's response at a bucket's address to the log: in
 * a response it would reveal what listens in the service's network.
 */
function withoutServerResponse(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== 'storage_unusable') throw error
  const { step, reason } = error.members
  const why =
    reason === 'unreachable' ? 'no S3 store responds at this endpoint; the log has the reason' : reason
  throw error.with({ cause: error, detail: `the bucket cannot be used: could not ${step}: ${why}` })
}

/**
 * Reads `files` of the query.
 * @throws Problem 400 for any other parameter, because a misspelled one could mean to delete files, or not to
 */
function readFilesFlag(req: Request<Names>): boolean {
  const query = queryPairs(req as Request)
  const [pair] = query
  if (pair === undefined) return false
  const [param, received] = pair
  if (query.length === 1 && param === 'files' && (received === '' || received === '1')) return true
  throw badParameter({ param, expected: 'no query parameter except files (no value or 1)', received })
}

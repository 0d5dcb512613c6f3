import { type Request, type RequestHandler, Router } from 'express'
import { badParameter, Problem } from '../../core/problem.ts'
import type { ManagedClients } from '../../service/admin/clients.ts'
import type { AdminSessions } from '../../service/admin/sessions.ts'
import { jsonBody } from '../body/json.ts'
import { methodNotAllowed } from '../problem.ts'
import { clientGone, hasBody, queryPairs } from '../request.ts'
import {
  readClientChanges,
  readNewClient,
  readNewSecret,
  readRotation,
  readStorage,
} from './client-request.ts'

/** Those in the addresses: a type, since Express wants it open to other names. */
type Names = { id: string; secretId: string; version: string }

interface Dependencies {
  adminSessions: AdminSessions
  managedClients: ManagedClients
  /** Of a body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// 100 presets of 20 parameters each.
const BODY_MAX_BYTES = 256 * 1024

/** `/v1/clients`: what `sluice client` does, for an operator who has signed in. */
export function clientsRoutes({ adminSessions, managedClients, minBytesPerSecond }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const body = (req: Request) => jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
  const answered =
    (work: (req: Request<Names>, gone: AbortSignal) => Promise<unknown>): RequestHandler =>
    async (req, res) => {
      const answer = await work(req as Request<Names>, clientGone(res)).catch(withoutFindings)
      res.setHeader('Cache-Control', 'no-store')
      res.json(answer)
    }

  routes.use('/v1/clients', (req, _res, next) => {
    adminSessions.check(req.headers.authorization)
    next()
  })
  routes.get(
    '/v1/clients',
    answered(() => managedClients.list()),
  )
  routes.post(
    '/v1/clients',
    answered(async (req) => managedClients.create(readNewClient(await body(req)))),
  )
  routes.all('/v1/clients', methodNotAllowed('GET', 'HEAD', 'POST'))
  routes.get(
    '/v1/clients/:id',
    answered(({ params }) => managedClients.show(params.id)),
  )
  routes.patch(
    '/v1/clients/:id',
    answered(async (req) => managedClients.update(req.params.id, readClientChanges(await body(req)))),
  )
  // Who leaves breaks it off, as Ctrl-C does: it goes on with the next call.
  routes.delete(
    '/v1/clients/:id',
    answered((req, signal) =>
      managedClients.remove(req.params.id, { files: asksForFiles(req), signal, progress: async () => {} }),
    ),
  )
  routes.all('/v1/clients/:id', methodNotAllowed('GET', 'HEAD', 'PATCH', 'DELETE'))
  routes.put(
    '/v1/clients/:id/storage',
    answered(async (req) => managedClients.setStorage(req.params.id, readStorage(await body(req)))),
  )
  routes.delete(
    '/v1/clients/:id/storage',
    answered(({ params }) => managedClients.setStorage(params.id, undefined)),
  )
  routes.all('/v1/clients/:id/storage', methodNotAllowed('PUT', 'DELETE'))
  routes.post(
    '/v1/clients/:id/rotate',
    answered(async (req) =>
      managedClients.rotate(req.params.id, readRotation(hasBody(req) ? await body(req) : {})),
    ),
  )
  routes.all('/v1/clients/:id/rotate', methodNotAllowed('POST'))
  routes.post(
    '/v1/clients/:id/keys',
    answered(({ params }) => managedClients.addUrlKey(params.id)),
  )
  routes.all('/v1/clients/:id/keys', methodNotAllowed('POST'))
  routes.delete(
    '/v1/clients/:id/keys/:version',
    answered(({ params }) => managedClients.removeUrlKey(params.id, Number(params.version))),
  )
  routes.all('/v1/clients/:id/keys/:version', methodNotAllowed('DELETE'))
  routes.post(
    '/v1/clients/:id/secrets',
    answered(async (req) => managedClients.addSecret(req.params.id, readNewSecret(await body(req)))),
  )
  routes.all('/v1/clients/:id/secrets', methodNotAllowed('POST'))
  routes.delete(
    '/v1/clients/:id/secrets/:secretId',
    answered(({ params }) => managedClients.removeSecret(params.id, params.secretId)),
  )
  routes.all('/v1/clients/:id/secrets/:secretId', methodNotAllowed('DELETE'))
  return routes
}

/** Leaves to the log what was found at the address of a bucket: over HTTP that would reveal what listens in the network of the service. */
function withoutFindings(error: unknown): never {
  if (!(error instanceof Problem) || error.code !== 'storage_unusable') throw error
  const { step, reason } = error.members
  const why = reason === 'unreachable' ? 'no S3 store answers there; the log has the reason' : reason
  throw error.with({ cause: error, detail: `the bucket cannot be used: could not ${step}: ${why}` })
}

/** @throws Problem 400 for anything else in the query: who misspells it means to delete files, or not to */
function asksForFiles(req: Request<Names>): boolean {
  const query = queryPairs(req as Request)
  const [pair] = query
  if (pair === undefined) return false
  const [param, received] = pair
  if (query.length === 1 && param === 'files' && (received === '' || received === '1')) return true
  throw badParameter({ param, expected: 'only files in the query, without a value or 1,', received })
}

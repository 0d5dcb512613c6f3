import { Router } from 'express'
import { parsePath } from '../core/object-key.ts'
import { meaningsWithin } from '../core/scope.ts'
import type { Clients } from '../service/clients.ts'
import type { Removals } from '../service/remove.ts'
import { callerBySecret } from './caller.ts'
import { methodNotAllowed } from './problem.ts'
import { wildcardPath } from './request.ts'

/** `DELETE /v1/upload/<key>`: deletes an original with everything derived from it. */
export function removeRoutes({ clients, removals }: { clients: Clients; removals: Removals }): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.delete('/v1/upload/*path', async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const meanings = meaningsWithin(parsePath(wildcardPath(req)), grant)
    const { key, derivatives } = await removals.remove(grant.client, meanings)
    res.setHeader('Cache-Control', 'no-store')
    res.json({ s3PathOriginal: key, derivatives })
  })
  routes.all('/v1/upload/:name', methodNotAllowed('PUT', 'DELETE'))
  routes.all('/v1/upload/*path', methodNotAllowed('DELETE'))
  return routes
}

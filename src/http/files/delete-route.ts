import { Router } from 'express'
import { candidatesInFolder } from '../../core/clients/grant.ts'
import { parsePath } from '../../core/files/request-path.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Removals } from '../../service/originals/delete.ts'
import { callerBySecret } from '../caller/caller.ts'
import { methodNotAllowed } from '../problem.ts'
import { flagOf, queryPairs, wildcardPath } from '../request.ts'
import type { DeletedFile } from '../wire/outcomes.ts'

/**
 * `DELETE /v1/upload/<key>`: deletes an original with all its derivatives. `?now` deletes permanently, although the
 * client's rules say soft delete.
 */
export function removeRoutes({ clients, removals }: { clients: Clients; removals: Removals }): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.delete('/v1/upload/*path', async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const meanings = candidatesInFolder(parsePath(wildcardPath(req)), grant)
    const isPermanent = flagOf(queryPairs(req), 'now')
    const { key, derivatives, until } = await removals.remove(grant.client, meanings, isPermanent)
    res.setHeader('Cache-Control', 'no-store')
    const deleted: DeletedFile = {
      s3PathOriginal: key,
      derivatives,
      ...(until === undefined ? {} : { deletedUntil: new Date(until).toISOString() }),
    }
    res.json(deleted)
  })
  routes.all('/v1/upload/:name', methodNotAllowed('PUT', 'DELETE'))
  routes.all('/v1/upload/*path', methodNotAllowed('DELETE'))
  return routes
}

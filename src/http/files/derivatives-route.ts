import { Router } from 'express'
import { candidatesInFolder } from '../../core/clients/grant.ts'
import { parsePath } from '../../core/files/request-path.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { RemoveDerivatives } from '../../service/derivatives/remove.ts'
import { callerBySecret } from '../caller/caller.ts'
import { methodNotAllowed } from '../problem.ts'
import { wildcardPath } from '../request.ts'
import type { DeletedDerivatives } from '../wire/outcomes.ts'

/** `DELETE /v1/files/<path>/derivatives`: deletes the derivatives of an original, but not the original. */
export function fileDerivativesRoutes({
  clients,
  removeDerivatives,
}: {
  clients: Clients
  removeDerivatives: RemoveDerivatives
}): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const path = '/v1/files/*path/derivatives'
  routes.delete(path, async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    const meanings = candidatesInFolder(parsePath(wildcardPath(req)), grant)
    const { key, derivatives, bytes } = await removeDerivatives(grant.client, meanings)
    res.setHeader('Cache-Control', 'no-store')
    const deleted: DeletedDerivatives = { s3PathOriginal: key, derivatives, bytes }
    res.json(deleted)
  })
  routes.all(path, methodNotAllowed('DELETE'))
  return routes
}

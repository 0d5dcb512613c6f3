import { Router } from 'express'
import type { Clients } from '../../service/clients/clients.ts'
import type { ListPresets } from '../../service/clients/presets.ts'
import { callerBySecret } from '../caller/caller.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, queryPairs } from '../request.ts'
import type { PresetList } from '../wire/presets.ts'

/** `GET /v1/presets`: the presets that the client may use, its own and shared ones. */
export function presetsRoutes({
  clients,
  listPresets,
}: {
  clients: Clients
  listPresets: ListPresets
}): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/v1/presets', (req, res) => {
    const { client } = callerBySecret(req, clients, 'read')
    checkNames(queryPairs(req), [])
    res.setHeader('Cache-Control', 'no-store')
    const body: PresetList = { presets: listPresets(client) }
    res.json(body)
  })
  routes.all('/v1/presets', methodNotAllowed('GET', 'HEAD'))
  return routes
}

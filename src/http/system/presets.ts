import { Router } from 'express'
import { checkEverywhere } from '../../core/clients/grant.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { ClientPresets } from '../../service/clients/presets.ts'
import { jsonBody } from '../body/json.ts'
import { callerBySecret } from '../caller/caller.ts'
import { methodNotAllowed } from '../problem.ts'
import { checkNames, queryPairs } from '../request.ts'
import type { Preset, PresetList } from '../wire/presets.ts'
import { readNewPreset } from './preset-request.ts'

interface Dependencies {
  clients: Clients
  presets: ClientPresets
  /** Minimum rate of a request body, see {@link watchRate}. */
  minBytesPerSecond: number
}

// 20 parameters with values of the maximum length.
const BODY_MAX_BYTES = 64 * 1024

/**
 * `GET /v1/presets`: the presets that the client may use, its own and shared ones. `PUT` and `DELETE /v1/presets/<name>`
 * change an own one.
 */
export function presetsRoutes({ clients, presets, minBytesPerSecond }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  routes.get('/v1/presets', (req, res) => {
    const { client } = callerBySecret(req, clients, 'read')
    checkNames(queryPairs(req), [])
    res.setHeader('Cache-Control', 'no-store')
    const body: PresetList = { presets: presets.list(client) }
    res.json(body)
  })
  routes.all('/v1/presets', methodNotAllowed('GET', 'HEAD'))

  routes.put('/v1/presets/:name', async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    checkEverywhere(grant)
    const body = await jsonBody(req, { maxBytes: BODY_MAX_BYTES, minBytesPerSecond })
    const saved: Preset = await presets.save(grant.client, readNewPreset(req.params.name, body))
    res.setHeader('Cache-Control', 'no-store')
    res.json(saved)
  })
  routes.delete('/v1/presets/:name', async (req, res) => {
    const grant = callerBySecret(req, clients, 'manage')
    checkEverywhere(grant)
    await presets.remove(grant.client, req.params.name)
    res.status(204).end()
  })
  routes.all('/v1/presets/:name', methodNotAllowed('PUT', 'DELETE'))
  return routes
}

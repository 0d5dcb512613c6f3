import { Router } from 'express'
import { parseAliasName } from '../../core/aliases/name.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import { aliasTargetMissing } from '../../service/aliases/alias-problems.ts'
import type { Aliases } from '../../service/aliases/aliases.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import { callerByToken } from '../caller/caller.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import type { FullContentRange } from '../delivery/send.ts'
import { storedFiles } from '../delivery/stored-file.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { groupOf } from '../request.ts'

interface Dependencies {
  clients: Clients
  aliases: Pick<Aliases, 'target'>
  deliveries: Deliveries
  limits: Limits
  fullContentRange: FullContentRange
  readers: Readers
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/** `GET /v1/<group>/alias/<client token>/<name>`: the file of an alias, transformed by the parameters of the query. */
export function deliverAliasRoutes({ clients, aliases, ...dependencies }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const path = '/v1/:group/alias/:token/*path'
  const send = storedFiles({ clients, ...dependencies })

  routes.all(path, corsPublicRead)
  routes.get(path, async (req, res) => {
    const group = groupOf(req)
    const { client, path: name, query } = callerByToken(req, clients)
    const { key, setAt } = await aliases.target({ client, name: parseAliasName(name, 'path'), group })
    try {
      await send(req, res, { client, group, query, findPath: async () => key, replaceable: { since: setAt } })
    } catch (error) {
      const isMissing = error instanceof Problem && error.code === 'file_not_found'
      throw isMissing ? aliasTargetMissing() : error
    }
  })
  routes.all(path, methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}

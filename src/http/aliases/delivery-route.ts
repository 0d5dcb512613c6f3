import { Router } from 'express'
import { parseAliasName } from '../../core/aliases/name.ts'
import { needsSignedUrl } from '../../core/clients/signed-delivery.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import { aliasTargetMissing } from '../../service/aliases/alias-problems.ts'
import type { Aliases } from '../../service/aliases/aliases.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import type { Redirects } from '../../service/moves/redirects.ts'
import { callerByToken } from '../caller/caller.ts'
import { isSigned, needsSignature } from '../caller/signed-url.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import type { FullContentRange } from '../delivery/send.ts'
import { storedFiles } from '../delivery/stored-file.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { groupOf } from '../request.ts'

interface Dependencies {
  clients: Clients
  aliases: Pick<Aliases, 'target'>
  redirects: Pick<Redirects, 'follow'>
  deliveries: Deliveries
  limits: Limits
  fullContentRange: FullContentRange
  readers: Readers
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/** `GET /v1/<group>/alias/<client token>/<name>`: the file of an alias, transformed by the parameters of the query. */
export function deliverAliasRoutes({ clients, aliases, redirects, ...dependencies }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const path = '/v1/:group/alias/:token/*path'
  const send = storedFiles({ clients, ...dependencies })

  routes.all(path, corsPublicRead)
  routes.get(path, async (req, res) => {
    const group = groupOf(req)
    const { client, path: name, query } = callerByToken(req, clients)
    const { key, setAt } = await aliases.target({ client, name: parseAliasName(name, 'path'), group })
    const replaceable = { since: setAt }
    const deliver = async (path: ObjectKey) => {
      // The name of an alias may be public, although its file is in a private folder.
      if (!isSigned(req) && needsSignedUrl(client, path)) throw needsSignature()
      await send(req, res, { client, group, query, findPath: async () => path, replaceable })
    }
    try {
      await deliver(key)
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'file_not_found') throw error
      const moved = await redirects.follow(client, key)
      if (!moved) throw aliasTargetMissing()
      await deliver(moved.name.key)
    }
  })
  routes.all(path, methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}

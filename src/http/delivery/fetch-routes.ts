import { type Request, type Response, Router } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { parseRemoteUrl } from '../../core/net/remote-url.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import type { RemoteMirror } from '../../service/remote/keep.ts'
import type { RemotePictures } from '../../service/remote/transform.ts'
import { callerByToken } from '../caller/caller.ts'
import { clientIp } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { groupOf } from '../request.ts'
import { corsPublicRead } from './cors.ts'
import { remotePicture } from './remote-picture.ts'
import type { FullContentRange } from './send.ts'
import { storedFiles } from './stored-file.ts'

interface Dependencies {
  clients: Clients
  deliveries: Deliveries
  remoteMirror: RemoteMirror
  remotePictures: RemotePictures
  limits: Limits
  fullContentRange: FullContentRange
  readers: Readers
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/**
 * `GET /v1/image/fetch/<client token>/<URL>`: an image of another server, transformed by the parameters of the query.
 * `GET /v1/<group>/fetch/keep/<client token>/<URL>`: the same for any file, which is stored at the first request. The URL is
 * one segment of the path, percent-encoded once.
 */
export function fetchRoutes({
  clients,
  deliveries,
  remoteMirror,
  remotePictures,
  limits,
  fullContentRange,
  readers,
  baseUrl,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const keep = '/v1/:group/fetch/keep/:token/:url'
  const onTheFly = '/v1/:group/fetch/:token/:url'
  const notEncoded = '/v1/:group/fetch/:token/*path'
  const all = [keep, onTheFly, notEncoded]
  const sendStored = storedFiles({ clients, deliveries, limits, fullContentRange, readers, baseUrl })
  const sendPicture = remotePicture({ remotePictures, limits, fullContentRange, readers })

  const consumePublicRateLimit = (req: Request, res: Response, client: Client) =>
    consumeRateLimit(req, res, { limits, limited: 'fetch', client, asker: 'anyone' })

  for (const path of all) routes.all(path, corsPublicRead)

  routes.get(keep, async (req, res) => {
    const group = groupOf(req)
    const { client, query } = callerByToken(req, clients)
    const url = parseRemoteUrl(String(req.params.url))
    const address = clientIp(req)
    const beforeFetching = () => consumePublicRateLimit(req, res, client)
    await sendStored(req, res, {
      client,
      group,
      query,
      findPath: async (signal) =>
        (await remoteMirror.keep({ client, address, group, url, beforeFetching, signal })).key,
    })
  })

  routes.get(onTheFly, async (req, res) => {
    const group = groupOf(req)
    const { client, query } = callerByToken(req, clients)
    if (group !== 'image') throw onlyPictures(group)
    const url = parseRemoteUrl(String(req.params.url))
    await sendPicture(req, res, { client, url, query })
  })

  routes.get(notEncoded, (req) => {
    groupOf(req)
    throw new Problem({
      status: 400,
      code: 'url_not_allowed',
      detail: 'expected the URL to fetch as one segment of the path: encodeURIComponent(url)',
    })
  })

  for (const path of all) routes.all(path, methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}

function onlyPictures(group: string): Problem {
  return new Problem({
    status: 400,
    code: 'only_pictures',
    detail: `expected type image for a file that is not stored but received ${group}. To store it, use /v1/${group}/fetch/keep/`,
  })
}

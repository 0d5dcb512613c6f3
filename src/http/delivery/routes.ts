import { type Request, Router } from 'express'
import { deliveryUrl } from '../../core/files/delivery-url.ts'
import { parsePath } from '../../core/files/request-path.ts'
import { MEDIA_GROUPS } from '../../core/media/groups.ts'
import { preferencesOf } from '../../core/media/preferences.ts'
import { DOWNLOAD_WORD, isIgnoredParam } from '../../core/plugin-api/query-names.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import { truncate } from '../../core/text/truncate.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries } from '../../service/delivery/deliveries.ts'
import type { Redirects } from '../../service/moves/redirects.ts'
import { callerByToken } from '../caller/caller.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import type { HotCacheWriter } from '../hot/cache-writer.ts'
import { createOrRedirect } from '../moves/redirect.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone, groupOf, limitedPairs } from '../request.ts'
import { corsPublicRead } from './cors.ts'
import type { FullContentRange } from './send.ts'
import { sendDelivery } from './send-delivery.ts'
import { etagOf, storedFiles } from './stored-file.ts'

interface Dependencies {
  clients: Clients
  deliveries: Deliveries
  redirects: Redirects
  limits: Limits
  fullContentRange: FullContentRange
  readers: Readers
  cacheWriter: HotCacheWriter
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** Query parameters that are ignored, in addition to the built-in ones. */
  ignoredParams: readonly string[]
}

const DELIVERY_PATH = new RegExp(`^/v1/(?:(?:${MEDIA_GROUPS.join('|')})/upload|bucket)/[^/?]+/.`)

/**
 * Whether the path can only be that of a delivery. False for one that has a part of its prefix percent-encoded, or an unknown
 * group: other routes are tried first for these.
 */
export function isDelivery({ url }: Pick<Request, 'url'>): boolean {
  return DELIVERY_PATH.test(url)
}

/**
 * `GET /v1/<group>/upload/<client token>/<path>`: a file, transformed by the parameters of the query.
 * `GET /v1/bucket/<client token>/<key>`: a stored object, unmodified.
 */
export function deliverRoutes({
  clients,
  deliveries,
  redirects,
  limits,
  fullContentRange,
  readers,
  cacheWriter,
  baseUrl,
  ignoredParams,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const upload = '/v1/:group/upload/:token/*path'
  const bucket = '/v1/bucket/:token/*path'

  const orRedirect = createOrRedirect({ clients, redirects, baseUrl })

  const notAllowed = methodNotAllowed('GET', 'HEAD', 'OPTIONS')
  // One route per path: Express matches the path of each route again.
  routes
    .route(bucket)
    .all(corsPublicRead)
    .get(
      orRedirect(async (req, res) => {
        const { client, path, query } = callerByToken(req, clients)
        const signal = clientGone(res)
        const delivery = await deliveries.object({
          client,
          caller: anonymousCallerOf(req),
          path,
          preferences: preferencesOf(req.headers),
          signal,
        })
        const given = limitedPairs(query).find(
          ([name]) => name !== DOWNLOAD_WORD && !isIgnoredParam(name, ignoredParams),
        )
        if (given) throw parameterOfObject(given, { path, baseUrl, token: client.token })
        const addToCache = cacheWriter.adderOf(req, res, { client, delivery })
        const options = {
          etag: etagOf(delivery),
          fullContentRange,
          readers,
          signal,
          addToCache,
        }
        await sendDelivery(req, res, { delivery, ...options })
      }),
    )
    .all(notAllowed)

  const send = storedFiles({ clients, deliveries, limits, fullContentRange, readers, baseUrl })
  routes
    .route(upload)
    .all(corsPublicRead)
    .get(
      orRedirect(async (req, res) => {
        const group = groupOf(req)
        const { client, path, query } = callerByToken(req, clients)
        await send(req, res, { client, group, query, findPath: async () => path, cacheWriter })
      }),
    )
    .all(notAllowed)
  return routes
}

/** 400: if the parameters were ignored, the unmodified file would look like a failed transformation. */
function parameterOfObject(
  [name, value]: readonly [name: string, value: string],
  { path, ...place }: { path: string; baseUrl: string; token: string },
): Problem {
  const param = truncate(name)
  const { full } = parsePath(path)
  return new Problem({
    status: 400,
    code: 'bad_parameter',
    detail:
      `expected no parameters at the direct URL of an object but received ${JSON.stringify(param)}` +
      (full ? `; transform at ${deliveryUrl(full, place)}` : ''),
    members: { param, expected: 'no parameters', received: truncate(value) },
  })
}

import { Router } from 'express'
import { encodedPath } from '../../core/files/object-key.ts'
import { formatOfExtension } from '../../core/media/formats.ts'
import { preferencesOf } from '../../core/media/preferences.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { DeliverForeign } from '../../service/foreign/deliver.ts'
import type { ListForeign } from '../../service/foreign/list.ts'
import { callerBySecret, callerByToken } from '../caller/caller.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { isSigned } from '../caller/signed-url.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { type FullContentRange, REPLACEABLE } from '../delivery/send.ts'
import { deliveryQuery, sendDelivery } from '../delivery/send-delivery.ts'
import { cursorOf, positionOf } from '../files/cursor.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { checkNames, clientGone, groupOf, onlyValue, pageLimit, queryPairs } from '../request.ts'
import type { ForeignList } from '../wire/foreign.ts'

interface Dependencies {
  clients: Clients
  deliverForeign: DeliverForeign
  listForeign: ListForeign
  limits: Limits
  fullContentRange: FullContentRange
  readers: Readers
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
  /** 32 bytes, the key that seals cursors. */
  cursorKey: Buffer
}

/**
 * `GET /v1/<group>/foreign/<client token>/<path>`: an object that another system has written into the bucket, transformed by
 * the parameters of the query. `GET /v1/foreign?prefix=`: lists these objects. No route changes or deletes them.
 */
export function foreignRoutes({
  clients,
  deliverForeign,
  listForeign,
  limits,
  fullContentRange,
  readers,
  baseUrl,
  cursorKey,
}: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const object = '/v1/:group/foreign/:token/*path'

  routes.all(object, corsPublicRead)
  routes.get(object, async (req, res) => {
    const group = groupOf(req)
    const { client, path, query: pairs } = callerByToken(req, clients)
    const { download, query } = deliveryQuery(pairs)
    const signal = clientGone(res)
    const { etag, ...delivery } = await deliverForeign({
      client,
      caller: anonymousCallerOf(req),
      group,
      path,
      query,
      preferences: preferencesOf(req.headers),
      isSigned: isSigned(req),
      beforeRender: () => consumeRateLimit(req, res, { limits, limited: 'derivative', client }),
      signal,
    })
    // The other system may replace the object.
    const options = { etag, download, fullContentRange, readers, signal }
    await sendDelivery(req, res, { delivery, ...options, ...REPLACEABLE })
  })
  routes.all(object, methodNotAllowed('GET', 'HEAD', 'OPTIONS'))

  routes.get('/v1/foreign', async (req, res) => {
    const grant = callerBySecret(req, clients, 'read')
    const { client, folder = '' } = grant
    const query = queryPairs(req)
    checkNames(query, ['prefix', 'limit', 'cursor'])
    const prefix = onlyValue(query, 'prefix') ?? ''
    const cursor = onlyValue(query, 'cursor')
    const place = { ...grant, sort: 'foreign', key: cursorKey }
    const { objects, next } = await listForeign({
      client,
      prefix,
      folder,
      after: cursor === undefined ? undefined : positionOf(cursor, place),
      limit: pageLimit(query),
      signal: clientGone(res),
    })
    res.setHeader('Cache-Control', 'no-store')
    const page: ForeignList = {
      objects: objects.map(({ key, size, changedAt }) => ({
        path: key,
        src: urlOf(key, { baseUrl, token: client.token }),
        size,
        changedAt: changedAt.toISOString(),
      })),
      cursor: next === undefined ? null : cursorOf(next, place),
    }
    res.json(page)
  })
  routes.all('/v1/foreign', methodNotAllowed('GET', 'HEAD'))
  return routes
}

/** A list does not read the bytes of the objects, so the type in the URL is that of the extension. */
function urlOf(key: string, { baseUrl, token }: { baseUrl: string; token: string }): string | null {
  const [, extension = ''] = /\.([A-Za-z0-9]+)$/.exec(key) ?? []
  const group = formatOfExtension(extension.toLowerCase())?.group
  return group === undefined ? null : `${baseUrl}/v1/${group}/foreign/${token}/${encodedPath(key)}`
}

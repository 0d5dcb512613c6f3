import { type RequestHandler, Router } from 'express'
import { isMediaGroup } from '../core/media.ts'
import { DOWNLOAD_WORD } from '../core/query-word.ts'
import type { Clients } from '../service/clients.ts'
import type { Deliveries, Delivery } from '../service/deliver.ts'
import { methodNotAllowed, notFound } from './problem.ts'
import { clientGone, queryPairs, wildcardPath } from './request.ts'
import { type FullContentRange, sendAsset } from './send.ts'

interface Dependencies {
  clients: Clients
  deliveries: Deliveries
  fullContentRange: FullContentRange
}

/**
 * `GET /v1/<group>/upload/<client token>/<path>`: a file, transformed as the query says.
 * `GET /v1/bucket/<client token>/<key>`: an object as it lies in the bucket.
 */
export function deliverRoutes({ clients, deliveries, fullContentRange }: Dependencies): Router {
  const routes = Router({ strict: true, caseSensitive: true })
  const upload = '/v1/:group/upload/:token/*path'
  const bucket = '/v1/bucket/:token/*path'

  routes.all([bucket, upload], readableByAll)

  routes.get(bucket, async (req, res) => {
    const client = clients.ofToken(String(req.params.token))
    const delivery = await deliveries.object({ client, path: wildcardPath(req) })
    await sendAsset(req, res, { ...sendable(delivery), fullContentRange, signal: clientGone(res) })
  })

  routes.get(upload, async (req, res, next) => {
    const group = String(req.params.group)
    if (!isMediaGroup(group)) return notFound(req, res, next)
    const client = clients.ofToken(String(req.params.token))
    const pairs = queryPairs(req)
    const signal = clientGone(res)
    const delivery = await deliveries.deliver({
      client,
      group,
      path: wildcardPath(req),
      query: pairs.filter(([name]) => name !== DOWNLOAD_WORD),
      accept: req.headers.accept ?? '',
      signal,
    })
    const download = pairs.find(([name]) => name === DOWNLOAD_WORD)?.[1]
    await sendAsset(req, res, {
      ...sendable(delivery),
      fullContentRange,
      signal,
      ...(download === undefined ? {} : { downloadName: download || delivery.originalName }),
    })
  })

  routes.all([bucket, upload], methodNotAllowed('GET', 'HEAD', 'OPTIONS'))
  return routes
}

function sendable({ key, asset, variesByAccept }: Delivery) {
  return { asset, etag: key, variesByAccept }
}

/** Pages of any site may show and read the files. */
const readableByAll: RequestHandler = (req, res, next) => {
  res.setHeader('Access-Control-Allow-Origin', '*')
  res.setHeader('Cross-Origin-Resource-Policy', 'cross-origin')
  res.setHeader('X-Content-Type-Options', 'nosniff')
  res.setHeader(
    'Access-Control-Expose-Headers',
    'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, X-Request-Id',
  )
  if (req.method !== 'OPTIONS') return next()
  res.setHeader('Allow', 'GET, HEAD, OPTIONS')
  res.setHeader('Access-Control-Allow-Methods', 'GET, HEAD, OPTIONS')
  res.setHeader(
    'Access-Control-Allow-Headers',
    'Range, If-Match, If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range',
  )
  res.setHeader('Access-Control-Max-Age', '86400')
  res.status(204).end()
}

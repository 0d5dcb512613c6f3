import { Router } from 'express'
import { preferencesOf } from '../../core/media/preferences.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { DeliverForeign } from '../../service/foreign/deliver.ts'
import { callerByToken } from '../caller/caller.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { isSigned } from '../caller/signed-url.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { type FullContentRange, REPLACEABLE } from '../delivery/send.ts'
import { deliveryQuery, sendDelivery } from '../delivery/send-delivery.ts'
import { methodNotAllowed } from '../problem.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone, groupOf } from '../request.ts'

interface Dependencies {
  clients: Clients
  deliverForeign: DeliverForeign
  limits: Limits
  fullContentRange: FullContentRange
  readers: Readers
}

/**
 * `GET /v1/<group>/foreign/<client token>/<path>`: an object that another system has written into the bucket, transformed by
 * the parameters of the query. No route changes or deletes these objects.
 */
export function foreignRoutes({
  clients,
  deliverForeign,
  limits,
  fullContentRange,
  readers,
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
  return routes
}

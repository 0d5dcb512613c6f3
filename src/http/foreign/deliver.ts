import { preferencesOf } from '../../core/media/preferences.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { DeliverForeign } from '../../service/foreign/deliver.ts'
import type { Caching } from '../caching/caching.ts'
import { REPLACEABLE } from '../caching/lifetime.ts'
import { callerByToken } from '../caller/caller.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { isSigned } from '../caller/signed-url.ts'
import { corsPublicRead } from '../delivery/cors.ts'
import { DOWNLOAD, pictureParameters, SIGNATURE } from '../delivery/parameters.ts'
import {
  FILE_PROBLEMS,
  SENT_PROBLEMS,
  SIGNATURE_PROBLEMS,
  TRANSFORMED_PROBLEMS,
} from '../delivery/problems.ts'
import { CONDITIONS, SENT_FILE } from '../delivery/responses.ts'
import type { FullContentRange } from '../delivery/send.ts'
import { deliveryQuery, sendDelivery } from '../delivery/send-delivery.ts'
import { EXAMPLE, fileExamples } from '../documents/examples.ts'
import type { ServedEndpoint } from '../endpoint/endpoint.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone, groupOf } from '../request.ts'

/** The services that handle these requests. */
export interface Services {
  clients: Clients
  deliverForeign: DeliverForeign
  limits: Limits
  caching: Caching
  fullContentRange: FullContentRange
  readers: Readers
}

/**
 * An object that another system has written into the bucket, transformed by the parameters of the query. No endpoint changes or
 * deletes these objects.
 */
export const deliverForeign: ServedEndpoint<Services> = {
  route: 'GET /v1/:group/foreign/:token/*path',
  id: 'getForeign{Group}',
  tag: 'Delivery',
  summary: 'Deliver {file} that another system has written into the bucket',
  access: 'signature',
  responses: SENT_FILE,
  problems: [
    ...SIGNATURE_PROBLEMS,
    '400 bad_parameter',
    ...FILE_PROBLEMS,
    ...SENT_PROBLEMS,
    ...TRANSFORMED_PROBLEMS,
    '400 only_pictures',
  ],
  byGroup: (group, parameters) => ({
    parameters: group === 'image' ? pictureParameters(parameters) : [DOWNLOAD, ...SIGNATURE, ...CONDITIONS],
    examples: fileExamples({ path: EXAMPLE.foreignPath }),
  }),
  first: corsPublicRead,

  handlerOf:
    ({ clients, deliverForeign: deliver, limits, caching, fullContentRange, readers }) =>
    async (req, res) => {
      const group = groupOf(req)
      const { client, path, query: pairs } = callerByToken(req, clients)
      const { download, query } = deliveryQuery(pairs)
      const signal = clientGone(res)
      const { etag, ...delivery } = await deliver({
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
      caching.setTags(res, client)
      await sendDelivery(req, res, { delivery, ...options, lifetime: REPLACEABLE })
    },
}

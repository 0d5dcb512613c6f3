import type { Request, Response } from 'express'
import type { Client } from '../../core/clients/client.ts'
import { preferencesOf } from '../../core/media/preferences.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import type { RemotePictures } from '../../service/remote/transform.ts'
import type { Caching } from '../caching/caching.ts'
import { MAX_AGE_SECONDS } from '../caching/lifetime.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { isSigned } from '../caller/signed-url.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone, type QueryPairs } from '../request.ts'
import type { FullContentRange } from './send.ts'
import { deliveryQuery, sendDelivery } from './send-delivery.ts'

/** An image of another server, as a URL names it. */
export interface RemotePicture {
  client: Client
  /** As `parseRemoteUrl` returns it. */
  url: string
  /** The query of the URL without its signature. */
  query: QueryPairs
}

/** Sends an image of another server, transformed by the parameters of the query, without storing it. */
export function remotePicture({
  remotePictures,
  limits,
  caching,
  fullContentRange,
  readers,
}: {
  remotePictures: RemotePictures
  limits: Limits
  caching: Caching
  fullContentRange: FullContentRange
  readers: Readers
}): (req: Request, res: Response, picture: RemotePicture) => Promise<void> {
  return async (req, res, { client, url, query: pairs }) => {
    const { download, query } = deliveryQuery(pairs)
    const beforeFetching = () =>
      consumeRateLimit(req, res, { limits, limited: 'fetch', client, asker: 'anyone' })
    const signal = clientGone(res)
    const preferences = preferencesOf(req.headers)
    const caller = anonymousCallerOf(req)
    const requested = { client, caller, url, query, preferences, isSigned: isSigned(req) }
    const picture = { ...requested, beforeFetching, signal }
    const { value: delivery, release } = await remotePictures.deliver(picture)
    try {
      caching.setTags(res, client)
      // Another server may replace or delete it, and then nothing purges CDNs of it.
      const { maxAgeSeconds } = caching.lifetimeOf(client)
      await sendDelivery(req, res, {
        delivery,
        lifetime: { maxAgeSeconds: Math.min(maxAgeSeconds, MAX_AGE_SECONDS) },
        etag: delivery.etag,
        download,
        fullContentRange,
        // A rendered image is only in memory, unless it is in a temporary file.
        isHeld: delivery.asset.file === undefined,
        readers,
        signal,
      })
    } finally {
      release()
    }
  }
}

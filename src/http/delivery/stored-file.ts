import type { Request, Response } from 'express'
import { withLastModified } from '../../core/bytes/asset.ts'
import type { Client } from '../../core/clients/client.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import { preferencesOf } from '../../core/media/preferences.ts'
import type { Limits } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { Clients } from '../../service/clients/clients.ts'
import type { Deliveries, Delivery } from '../../service/delivery/deliveries.ts'
import type { Caching } from '../caching/caching.ts'
import { type Lifetime, REPLACEABLE } from '../caching/lifetime.ts'
import { setLifetime } from '../caching/set-lifetime.ts'
import { anonymousCallerOf } from '../caller/client-ip.ts'
import { consumeRateLimit } from '../caller/rate-limit.ts'
import { checkSigned, isSigned, signedLike } from '../caller/signed-url.ts'
import type { SendElsewhere } from '../elsewhere/elsewhere.ts'
import type { HotCacheWriter } from '../hot/cache-writer.ts'
import type { Readers } from '../readers/readers.ts'
import { clientGone, type QueryPairs } from '../request.ts'
import { derivativeUrl } from '../wire/urls.ts'
import { waitSeconds } from './parameters.ts'
import { type FullContentRange, setVary } from './send.ts'
import { deliveryQuery, sendDelivery, setTransformHeader } from './send-delivery.ts'

/** A file of a client, as a URL names it. */
export interface StoredFile {
  client: Client
  group: MediaGroup
  /** The query of the URL without its signature. */
  query: QueryPairs
  /** Returns the path of the file. It may have to be stored first. */
  findPath: (signal: AbortSignal) => Promise<string>
  /** Adds responses to the hot cache. Absent for a URL that may deliver another file later, without a change of this one. */
  cacheWriter?: HotCacheWriter
  /** The alias in the URL, which may deliver another file later. `setAt`: when it was set to this file, in milliseconds since 1970. */
  alias?: { name: string; setAt: number }
}

/** The services that send a stored file. */
export interface StoredFileServices {
  clients: Clients
  deliveries: Deliveries
  limits: Limits
  caching: Caching
  fullContentRange: FullContentRange
  readers: Readers
  /** Undefined when this service sends all bytes itself. */
  sendElsewhere: SendElsewhere | undefined
  /** The public URL of the service, without a trailing slash. */
  baseUrl: string
}

/** Sends a stored file, transformed by the parameters of the query. */
export function storedFiles({
  clients,
  deliveries,
  limits,
  caching,
  fullContentRange,
  readers,
  sendElsewhere,
  baseUrl,
}: StoredFileServices): (req: Request, res: Response, file: StoredFile) => Promise<void> {
  return async (req, res, { client, group, query: pairs, findPath, cacheWriter, alias }) => {
    const { download, wait, query } = deliveryQuery(pairs)
    const waitMs = 1000 * waitSeconds(wait)
    const signal = clientGone(res)
    const path = await findPath(signal)
    checkSigned(req, { client, clients, path })
    const delivering = deliveries.deliver({
      client,
      caller: anonymousCallerOf(req),
      group,
      path,
      query,
      preferences: preferencesOf(req.headers),
      waitMs,
      isOneFile: download !== undefined,
      beforeRender: () => consumeRateLimit(req, res, { limits, limited: 'derivative', client }),
      beforeJob: () => consumeRateLimit(req, res, { limits, limited: 'media', client, asker: 'anyone' }),
      isSigned: isSigned(req),
      signal,
    })
    const found = await delivering.catch((error) => {
      throw withJob(error, (url) => signedLike(req, url, client, clients))
    })
    const delivery = alias ? changedAt(found, alias.setAt) : found
    const lifetime = alias ? REPLACEABLE : caching.lifetimeOf(client, delivery.caching)
    caching.setTags(res, client, delivery.key, alias?.name)
    if (delivery.mustRedirect) {
      const url = derivativeUrl(delivery.key, { baseUrl, token: client.token, group })
      return redirect(req, res, { delivery, url: signedLike(req, url, client, clients), lifetime })
    }
    await sendDelivery(req, res, {
      delivery,
      etag: etagOf(delivery),
      download,
      fullContentRange,
      readers,
      signal,
      sendElsewhere,
      addToCache: cacheWriter?.adderOf(req, res, { client, delivery, lifetime }),
      lifetime,
    })
  }
}

/**
 * The delivery with the date of its URL. By the date of the file, a client that has the later file would not receive an earlier one
 * after a rollback.
 */
function changedAt(delivery: Delivery, at: number): Delivery {
  const { asset } = delivery
  return { ...delivery, asset: withLastModified(asset, Math.max(at, asset.lastModified.getTime())) }
}

/** The entity tag, unquoted; undefined for playlists that still change. Compressed bytes have a tag of their own. */
export function etagOf({ key, isPartial, encoding }: Delivery): string | undefined {
  if (isPartial) return undefined
  return encoding === undefined ? key : `${key};${encoding}`
}

/** The same error; if it has the URL of a job, that URL is signed like the request's. */
function withJob(error: unknown, signed: (url: string) => string): unknown {
  if (!(error instanceof Problem) || typeof error.members.job !== 'string') return error
  return error.with({ members: { job: signed(error.members.job) } })
}

/** Redirects to the playlist's own URL, so that its relative URLs resolve. @see RFC 8216 section 4.1 */
function redirect(
  req: Request,
  res: Response,
  { delivery, url, lifetime }: { delivery: Delivery; url: string; lifetime: Lifetime },
): void {
  setTransformHeader(res, delivery)
  setVary(res, delivery.variesBy)
  if (delivery.isPartial) res.setHeader('Cache-Control', 'no-store')
  else setLifetime(req, res, lifetime)
  res.redirect(302, url)
}

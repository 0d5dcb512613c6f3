import type { ClientRequest } from 'node:http'
import type { Request, Response } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { Delivery } from '../../service/delivery/deliveries.ts'
import type { Lifetime } from '../caching/lifetime.ts'
import type { usualSender } from '../elsewhere/elsewhere.ts'
import { type RequestEnds, routeOf } from '../log/request-log.ts'
import { stateOf } from '../request-state.ts'
import { HOT_MAX_BODY_BYTES, type HotCache } from './cache.ts'

/** Adds responses to the hot cache. */
export interface HotCacheWriter {
  /**
   * Returns a function that adds this response. Undefined when the response cannot be repeated: the file is new, may change, or is
   * replaced by another one for the moment.
   */
  adderOf(
    req: Request,
    res: Response,
    file: { client: Client; delivery: Delivery; lifetime: Lifetime },
  ): AddToCache | undefined
}

/** To be called when all headers of a 200, or of a 206 with one range, are set. `body`: of the 200, if it was read at once. */
export type AddToCache = (body?: Buffer) => void

// They differ from request to request.
const OWN_HEADERS = new Set(['x-request-id', 'content-range'])
// A 304 has only the headers that describe the version, not those of its content: RFC 9110 section 15.4.5.
const CONTENT_HEADERS = new Set([
  'content-disposition',
  'content-type',
  'content-encoding',
  'content-length',
  'content-security-policy',
])

export function createHotCacheWriter(
  cache: HotCache,
  ends: Pick<RequestEnds, 'pathOf'>,
  senderOf: ReturnType<typeof usualSender>,
): HotCacheWriter {
  return {
    adderOf(req, res, { client, delivery, lifetime }) {
      const { hot, signature, signedCookie, isCredentialed } = stateOf(req)
      const { stored: source, asset, variesBy } = delivery
      if (!hot || !source || delivery.fallbackReason) return undefined
      // The same URL without the cookie, or from a page of another origin, has another response.
      if (signedCookie || isCredentialed) return undefined
      const sender = senderOf(delivery)
      if (sender === 'bucket') return undefined
      const isSmall = asset.size <= HOT_MAX_BODY_BYTES && sender === 'service'
      return (body) => {
        const { state, ...name } = hot
        const etag = res.getHeader('ETag')
        // A small file is added when all of it is requested.
        if (typeof etag !== 'string' || (isSmall && !body)) return
        const names = rawHeaderNames(res).filter((name) => !OWN_HEADERS.has(name.toLowerCase()))
        const textOf = (name: string) => String(name === 'Content-Length' ? asset.size : res.getHeader(name))
        const flat = (chosen: readonly string[]) => chosen.flatMap((name) => [name, textOf(name)])
        const response = {
          client,
          source,
          headers: flat(names),
          validators: flat(names.filter((name) => !CONTENT_HEADERS.has(name.toLowerCase()))),
          ...(isSmall && body ? { body } : {}),
          ...(delivery.encoding ? { isEncoded: true as const } : {}),
          etag,
          lastModified: asset.lastModified,
          ...(signature?.until === undefined ? {} : { expiry: { until: signature.until, lifetime } }),
          path: ends.pathOf(req.path),
          route: routeOf(req) ?? '',
        }
        cache.add(name, response, { state, variesBy })
      }
    },
  }
}

/** The names of all headers as they were set. The types of Node declare this method for client requests only. */
function rawHeaderNames(res: unknown): string[] {
  return (res as Pick<ClientRequest, 'getRawHeaderNames'>).getRawHeaderNames()
}

import type { ClientRequest } from 'node:http'
import type { Request, Response } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { Delivery } from '../../service/delivery/deliveries.ts'
import { type RequestEnds, routeOf } from '../log/request-log.ts'
import { stateOf } from '../request-state.ts'
import { HOT_MAX_BODY_BYTES, type HotCache } from './cache.ts'

/** Adds complete responses to the hot cache. */
export interface KeepHot {
  /**
   * Returns a function to call when all headers of a complete 200 are set, with its body. Undefined when the response cannot be
   * repeated: the file is new, may change, or is replaced by another one for the moment.
   */
  of(
    req: Request,
    res: Response,
    file: { client: Client; delivery: Delivery },
  ): ((body: Buffer) => void) | undefined
}

// They differ from request to request.
const OWN_HEADERS = new Set(['x-request-id', 'content-range'])
// A 304 has only the headers that describe the version, not those of its content: RFC 9110 section 15.4.5.
const CONTENT_HEADERS = new Set([
  'content-disposition',
  'content-type',
  'content-length',
  'content-security-policy',
])

export function createKeepHot(cache: HotCache, ends: Pick<RequestEnds, 'pathOf'>): KeepHot {
  return {
    of(req, res, { client, delivery }) {
      const { hot, signature } = stateOf(req)
      const { stored: source, asset, variesByAccept } = delivery
      if (!hot || !source || delivery.fallbackReason || asset.size > HOT_MAX_BODY_BYTES) return undefined
      return (body) => {
        const { target, accept, state } = hot
        const etag = res.getHeader('ETag')
        if (typeof etag !== 'string') return
        const names = rawHeaderNames(res).filter((name) => !OWN_HEADERS.has(name.toLowerCase()))
        const flat = (chosen: readonly string[]) =>
          chosen.flatMap((name) => [name, String(res.getHeader(name))])
        const response = {
          client,
          source,
          headers: flat(names),
          validators: flat(names.filter((name) => !CONTENT_HEADERS.has(name.toLowerCase()))),
          body,
          etag,
          lastModified: asset.lastModified,
          ...(signature?.until === undefined ? {} : { until: signature.until }),
          path: ends.pathOf(req.path),
          route: routeOf(req) ?? '',
        }
        cache.add({ target, accept }, response, { state, variesByAccept })
      }
    },
  }
}

/** The names of all headers as they were set. The types of Node declare this method for client requests only. */
function rawHeaderNames(res: unknown): string[] {
  return (res as Pick<ClientRequest, 'getRawHeaderNames'>).getRawHeaderNames()
}

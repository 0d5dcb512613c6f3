import type { IncomingMessage } from 'node:http'
import { type ByteRange, lengthOf } from '../../core/bytes/asset.ts'
import { cacheControlOf } from '../caching/lifetime.ts'
import { contentRange } from '../delivery/multipart-byteranges.ts'
import { type FullContentRange, hasFullContentRange, wholeRange } from '../delivery/send.ts'
import { type FrontServer, frontLocation } from '../elsewhere/front-server.ts'
import { mayBeElsewhere } from '../elsewhere/sent-file.ts'
import type { HotResponse } from './cache.ts'

/** How a request is answered from the cache. */
export interface Answer {
  status: 200 | 206 | 304
  found: HotResponse
  /** For 206. */
  range?: ByteRange
  /** The header with which the front server sends the bytes. */
  location?: readonly [name: string, location: string]
  /** As `performance.now()`. */
  startedAt: number
}

/** Undefined when this service has to send the file. */
export function locationFor(
  req: IncomingMessage,
  { found, range }: Answer,
  front: FrontServer | undefined,
): Answer['location'] {
  if (!front || found.isEncoded) return undefined
  const file = { asset: found.source.asset, ranges: range && [range] }
  return mayBeElsewhere(req, file) ? frontLocation(front, req, file) : undefined
}

/** Names and values alternate, as `writeHead` takes them. */
export function headersOf(
  req: IncomingMessage,
  requestId: string,
  { status, found, range, location }: Answer,
  { fullContentRange }: { fullContentRange: FullContentRange },
): string[] {
  const { headers, validators, expiry } = found
  const { size } = found.source.asset
  const all = ['X-Request-Id', requestId, ...(status === 304 ? validators : headers)]
  if (expiry) replace(all, 'Cache-Control', cacheControlOf(expiry, expiry.lifetime))
  if (location) {
    all.splice(all.indexOf('Accept-Ranges'), 2)
    replace(all, 'Content-Length', '0')
    all.push(...location)
  } else if (range) {
    replace(all, 'Content-Length', String(lengthOf(range)))
    all.push('Content-Range', contentRange(range, { size }))
  } else if (status === 200 && !found.isEncoded && hasFullContentRange(req, fullContentRange))
    all.push('Content-Range', wholeRange(size))
  return all
}

function replace(all: string[], name: string, value: string): void {
  all[all.indexOf(name) + 1] = value
}

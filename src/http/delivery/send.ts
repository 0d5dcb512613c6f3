import type { IncomingMessage } from 'node:http'
import type { Request, Response } from 'express'
import { type Asset, type ByteRange, lengthOf, readWhole } from '../../core/bytes/asset.ts'
import { parseRange } from '../../core/bytes/byte-range.ts'
import type { Encoding } from '../../core/media/encodings.ts'
import { isSandboxed } from '../../core/media/formats.ts'
import { headersOf, hintsOf, type Preference } from '../../core/media/preferences.ts'
import { Problem } from '../../core/problem.ts'
import type { Lifetime } from '../caching/lifetime.ts'
import { setLifetime } from '../caching/set-lifetime.ts'
import type { SendElsewhere } from '../elsewhere/elsewhere.ts'
import type { AddToCache } from '../hot/cache-writer.ts'
import { openPieces } from '../readers/open-pieces.ts'
import { holdResponse, type Readers } from '../readers/readers.ts'
import { sendPieces, sendWhole } from '../readers/send-pieces.ts'
import { evaluateConditions } from './conditional.ts'
import { attachment } from './content-disposition.ts'
import { isAria2, isDirect } from './direct-client.ts'
import { byteranges, contentRange, type Payload } from './multipart-byteranges.ts'

/** When a complete 200 has `Content-Range: bytes 0 - <size>`. `auto`: for clients without a proxy that accept it. */
export type FullContentRange = 'auto' | 'always' | 'never'

export interface SendOptions {
  asset: Asset
  /** How long caches may store the response, or `private`: only this client, and its own cache must ask whether it has changed. */
  lifetime: Lifetime | 'private'
  /** The encoding of the bytes. */
  encoding?: Encoding | undefined
  /** The entity tag, unquoted. Undefined for a file that may still change: it is sent completely, and not cached. */
  etag: string | undefined
  fullContentRange: FullContentRange
  /** Adds `Content-Disposition: attachment` with this name. */
  downloadName?: string
  /** What the response depends on. */
  variesBy: readonly Preference[]
  readers: Readers
  /** Whether the file is only in memory. */
  isHeld?: boolean | undefined
  /** Aborted when the client disconnects. */
  signal: AbortSignal
  /** Called when all headers of a 200 or a 206 with one range are set. */
  addToCache?: AddToCache | undefined
  /** For a stored file: has another server send its bytes. */
  sendElsewhere?: SendElsewhere | undefined
}

/**
 * Sends a file. Handles conditional requests, ranges and HEAD.
 *
 * @throws Problem 412, 416
 * @see RFC 9110 sections 13 and 14
 */
export async function sendAsset(req: Request, res: Response, options: SendOptions): Promise<void> {
  const { asset, encoding, readers, isHeld, signal, sendElsewhere } = options
  const etag = options.etag === undefined ? undefined : entityTag(options.etag)
  setValidators(req, res, options, etag)
  const verdict = etag ? evaluateConditions(req, { etag, lastModified: asset.lastModified }) : 'whole'
  if (verdict === 'failed') {
    throw new Problem({
      status: 412,
      code: 'precondition_failed',
      detail: 'The file does not match the precondition of the request: it has changed.',
    })
  }
  if (verdict === 'not-modified') {
    res.status(304).end()
    return
  }
  const ranges = verdict === 'whole' ? undefined : requestedRanges(req, asset.size)
  const payload = payloadOf(asset, ranges)
  setContent(req, res, { ...options, payload, ranges })
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  if (sendElsewhere) {
    const { lifetime, addToCache: beforeChange } = options
    const maxAgeSeconds = lifetime === 'private' ? 0 : lifetime.maxAgeSeconds
    if (await sendElsewhere(req, res, { asset, encoding, ranges, maxAgeSeconds, beforeChange })) return
  }
  if (payload.read && readers.hasRoom(payload.size)) {
    const body = await payload.read(signal)
    options.addToCache?.(ranges ? undefined : body)
    sendWhole(res, body, readers)
    return
  }
  if (payload.read) options.addToCache?.()
  const end = holdResponse(res, { asset, isHeld, readers })
  await sendPieces(res, payload.open, { readers, signal }).finally(end)
}

// RFC 9110 section 8.8.3: folders may contain quotes, spaces and characters beyond Latin-1, entity tags may not.
function entityTag(key: string): string {
  return `"${/^[\x21\x23-\x7e]*$/.test(key) ? key : encodeURI(key)}"`
}

function setValidators(
  req: Request,
  res: Response,
  { asset, variesBy, lifetime }: SendOptions,
  etag: string | undefined,
): void {
  setVary(res, variesBy)
  if (etag && lifetime !== 'private') setLifetime(req, res, lifetime)
  else res.setHeader('Cache-Control', etag ? 'private, no-cache' : 'no-store')
  if (!etag) return
  res.setHeader('ETag', etag)
  // The clock of another machine may be ahead, but this date must not be later than the response: RFC 9110 section 8.8.2.1.
  res.setHeader('Last-Modified', new Date(Math.min(+asset.lastModified, Date.now())).toUTCString())
  res.setHeader('Accept-Ranges', 'bytes')
}

/** Lists the request headers on which the response depends. Browsers send client hints to origins that request them. */
export function setVary(res: Response, variesBy: readonly Preference[]): void {
  if (variesBy.length === 0) return
  const hints = hintsOf(variesBy)
  res.vary(headersOf(variesBy).join(', '))
  if (hints.length > 0) res.setHeader('Accept-CH', hints.join(', '))
}

function setContent(
  req: Request,
  res: Response,
  {
    asset,
    encoding,
    downloadName,
    fullContentRange,
    payload,
    ranges,
  }: SendOptions & { payload: Payload; ranges: readonly ByteRange[] | undefined },
): void {
  if (downloadName !== undefined) res.setHeader('Content-Disposition', attachment(downloadName))
  res.setHeader('Content-Type', payload.mediaType)
  if (encoding !== undefined) res.setHeader('Content-Encoding', encoding)
  res.setHeader('Content-Length', payload.size)
  if (isSandboxed(asset.mediaType)) {
    res.setHeader(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    )
  }
  if (ranges) {
    res.status(206)
    // Several ranges have one header each, in the body. Then the response must not have one: RFC 9110 section 15.3.7.2.
    const [range, another] = ranges
    if (range && !another) res.setHeader('Content-Range', contentRange(range, asset))
    return
  }
  // Ranges are those of the file itself.
  if (encoding === undefined && hasFullContentRange(req, fullContentRange))
    res.setHeader('Content-Range', wholeRange(asset.size))
}

/**
 * Whether a complete 200 has a `Content-Range`. This is a part of the public contract, although RFC 9110 defines no such header for
 * a 200. Caches would take the response for a part of the file, so it is not sent to them.
 */
export function hasFullContentRange(req: IncomingMessage, when: FullContentRange): boolean {
  return when === 'always' || (when === 'auto' && isDirect(req) && !isAria2(req))
}

/** The `Content-Range` of a complete 200. */
export function wholeRange(size: number): string {
  return `bytes 0 - ${size}`
}

/** The body of a response. @param ranges undefined for the complete file */
export function payloadOf(asset: Asset, ranges: readonly ByteRange[] | undefined): Payload {
  if (ranges && ranges.length > 1) return byteranges(asset, ranges)
  const [range] = ranges ?? []
  const part = range ? { range } : {}
  return {
    mediaType: asset.mediaType,
    size: range ? lengthOf(range) : asset.size,
    open: (options) => openPieces(asset, { ...options, ...part }),
    read: async (signal) => unshared(await readWhole(asset, { ...part, signal })),
  }
}

/** A slice of a larger buffer would keep all of that buffer in memory until it is sent. */
function unshared(bytes: Buffer): Buffer {
  return 2 * bytes.length < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes
}

/** The requested ranges, at least one; undefined for the complete file. */
function requestedRanges(req: Request, size: number): ByteRange[] | undefined {
  // RFC 9110 section 14.2: ranges apply to GET only.
  if (req.method !== 'GET' || req.headers.range === undefined) return undefined
  const ranges = parseRange(req.headers.range, size)
  if (ranges !== 'unsatisfiable') return ranges
  throw new Problem({
    status: 416,
    code: 'range_not_satisfiable',
    detail: `expected a range within ${size} bytes`,
    members: { size },
    headers: { 'Content-Range': `bytes */${size}` },
  })
}

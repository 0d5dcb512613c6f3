import type { Request, Response } from 'express'
import { type Asset, type ByteRange, lengthOf, readWhole } from '../../core/bytes/asset.ts'
import { parseRange } from '../../core/bytes/byte-range.ts'
import { isActiveContent } from '../../core/media/formats.ts'
import { Problem } from '../../core/problem.ts'
import { cacheControl } from '../caller/signed-url.ts'
import { holdAnswer } from '../readers/held-answer.ts'
import { openPieces } from '../readers/open-pieces.ts'
import type { Readers } from '../readers/readers.ts'
import { sendPieces, sendWhole } from '../readers/send-pieces.ts'
import { evaluateConditions } from './conditional.ts'
import { attachment } from './content-disposition.ts'
import { isAria2, isDirect } from './direct-client.ts'
import { byteranges, contentRange, type Payload } from './multipart-byteranges.ts'

/** When a full 200 carries `Content-Range: bytes 0 - <size>`: `auto` is to direct clients that can bear it. */
export type FullContentRange = 'auto' | 'always' | 'never'

export interface SendOptions {
  asset: Asset
  /** Unquoted: the object's key. Undefined for what may be another in a moment: it is sent whole, and nobody keeps it. */
  etag: string | undefined
  fullContentRange: FullContentRange
  /** Adds `Content-Disposition: attachment` with this name. */
  downloadName?: string
  variesByAccept: boolean
  /** How long caches may keep it; a week when absent: files do not change. */
  maxAgeSeconds?: number
  readers: Readers
  /** It is in memory, and stored nowhere. */
  isHeld?: boolean | undefined
  /** The client has left. */
  signal: AbortSignal
}

// A week.
export const MAX_AGE_SECONDS = 604_800

/**
 * Sends a file: conditional requests, ranges, HEAD, and the headers of all three.
 *
 * @throws Problem 412, 416
 * @see RFC 9110 sections 13 and 14
 */
export async function sendAsset(req: Request, res: Response, options: SendOptions): Promise<void> {
  const { asset, readers, isHeld, signal } = options
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
  if (payload.read && readers.hasRoom(payload.size)) {
    sendWhole(res, await payload.read(signal), readers)
    return
  }
  const end = holdAnswer(res, { asset, isHeld, readers })
  await sendPieces(res, payload.open, { readers, signal }).finally(end)
}

// RFC 9110 section 8.8.3: an opaque tag holds neither quotes, spaces nor bytes past Latin-1, folders may.
function entityTag(key: string): string {
  return `"${/^[\x21\x23-\x7e]*$/.test(key) ? key : encodeURI(key)}"`
}

function setValidators(
  req: Request,
  res: Response,
  { asset, variesByAccept, maxAgeSeconds = MAX_AGE_SECONDS }: SendOptions,
  etag: string | undefined,
): void {
  if (variesByAccept) res.vary('Accept')
  res.setHeader('Cache-Control', etag ? cacheControl(req, maxAgeSeconds) : 'no-store')
  if (!etag) return
  res.setHeader('ETag', etag)
  // Another machine's clock may be ahead, but no date may be after that of the answer: RFC 9110 section 8.8.2.1.
  res.setHeader('Last-Modified', new Date(Math.min(+asset.lastModified, Date.now())).toUTCString())
  res.setHeader('Accept-Ranges', 'bytes')
}

function setContent(
  req: Request,
  res: Response,
  {
    asset,
    downloadName,
    fullContentRange,
    payload,
    ranges,
  }: SendOptions & { payload: Payload; ranges: readonly ByteRange[] | undefined },
): void {
  if (downloadName !== undefined) res.setHeader('Content-Disposition', attachment(downloadName))
  res.setHeader('Content-Type', payload.mediaType)
  res.setHeader('Content-Length', payload.size)
  if (isActiveContent(asset.mediaType)) {
    res.setHeader(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    )
  }
  if (ranges) {
    res.status(206)
    // Several parts have one each, in the body, and then there must be none here: section 15.3.7.2.
    const [range, another] = ranges
    if (range && !another) res.setHeader('Content-Range', contentRange(range, asset))
    return
  }
  // Part of the public contract, though RFC 9110 has no such header there. Caches in front take the answer for a
  // part, so they never see it.
  const wanted =
    fullContentRange === 'always' || (fullContentRange === 'auto' && isDirect(req) && !isAria2(req))
  if (wanted) res.setHeader('Content-Range', `bytes 0 - ${asset.size}`)
}

function payloadOf(asset: Asset, ranges: readonly ByteRange[] | undefined): Payload {
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

/** A part of larger bytes would keep all of them in memory until it is sent. */
function unshared(bytes: Buffer): Buffer {
  return 2 * bytes.length < bytes.buffer.byteLength ? Buffer.from(bytes) : bytes
}

/** At least one; undefined for the whole file. */
function requestedRanges(req: Request, size: number): ByteRange[] | undefined {
  // RFC 9110 section 14.2: of GET only.
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

import { pipeline } from 'node:stream/promises'
import type { Request, Response } from 'express'
import { type Asset, type ByteRange, openWhole } from '../core/asset.ts'
import { parseRange } from '../core/byte-range.ts'
import { isActiveContent } from '../core/media.ts'
import { Problem } from '../core/problem.ts'
import { evaluateConditions } from './conditional.ts'
import { isDirect } from './direct.ts'

/** When a full 200 carries `Content-Range: bytes 0 - <size>`: `auto` is to direct clients only. */
export type FullContentRange = 'auto' | 'always' | 'never'

export interface SendOptions {
  asset: Asset
  /** Unquoted: the object's key. */
  etag: string
  fullContentRange: FullContentRange
  /** Adds `Content-Disposition: attachment` with this name. */
  downloadName?: string
  variesByAccept: boolean
  /** The client has left. */
  signal: AbortSignal
}

/**
 * Sends a file: conditional requests, single ranges, HEAD, and the headers of all three.
 *
 * @throws Problem 412, 416
 * @see RFC 9110 sections 13 and 14
 */
export async function sendAsset(req: Request, res: Response, options: SendOptions): Promise<void> {
  const { asset, signal } = options
  const etag = entityTag(options.etag)
  setValidators(res, options, etag)
  const verdict = evaluateConditions(req, { etag, lastModified: asset.lastModified })
  if (verdict === 'failed') {
    throw new Problem({
      status: 412,
      code: 'precondition_failed',
      detail: 'the file is not the one that the request expects',
    })
  }
  if (verdict === 'not-modified') {
    res.status(304).end()
    return
  }
  const range = verdict === 'whole' ? undefined : requestedRange(req, asset.size)
  setContent(req, res, options, range)
  if (req.method === 'HEAD') {
    res.end()
    return
  }
  const body = await openWhole(asset, { ...(range ? { range } : {}), signal })
  // A failure from here on destroys the connection: the client sees that the file is cut, not a wrong file.
  await pipeline(body, res, { signal }).catch((error) => {
    if (!signal.aborted) throw error
  })
}

// RFC 9110 section 8.8.3: an opaque tag holds neither quotes, spaces nor bytes past Latin-1, folders may.
function entityTag(key: string): string {
  return `"${/^[\x21\x23-\x7e]*$/.test(key) ? key : encodeURI(key)}"`
}

function setValidators(res: Response, { asset, variesByAccept }: SendOptions, etag: string): void {
  res.setHeader('Cache-Control', 'public, max-age=604800')
  res.setHeader('ETag', etag)
  res.setHeader('Last-Modified', asset.lastModified.toUTCString())
  res.setHeader('Accept-Ranges', 'bytes')
  if (variesByAccept) res.vary('Accept')
}

function setContent(req: Request, res: Response, options: SendOptions, range: ByteRange | undefined): void {
  const { asset, downloadName, fullContentRange } = options
  if (downloadName !== undefined) res.attachment(downloadName)
  // After the disposition, which would set a type by the name's extension.
  res.setHeader('Content-Type', asset.mediaType)
  if (isActiveContent(asset.mediaType)) {
    res.setHeader(
      'Content-Security-Policy',
      "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox",
    )
  }
  if (range) {
    res.status(206)
    res.setHeader('Content-Range', `bytes ${range.start}-${range.end}/${asset.size}`)
    res.setHeader('Content-Length', range.end - range.start + 1)
    return
  }
  res.setHeader('Content-Length', asset.size)
  // Part of the public contract, though RFC 9110 has no such header there. Caches in front take the answer for a
  // part, so they never see it.
  const wanted = fullContentRange === 'always' || (fullContentRange === 'auto' && isDirect(req))
  if (wanted) res.setHeader('Content-Range', `bytes 0 - ${asset.size}`)
}

/** Undefined for the whole file: without a range, and for several, which the standard allows to answer so. */
function requestedRange(req: Request, size: number): ByteRange | undefined {
  // RFC 9110 section 14.2: of GET only.
  if (req.method !== 'GET' || req.headers.range === undefined) return undefined
  const ranges = parseRange(req.headers.range, size)
  if (ranges === 'unsatisfiable') {
    throw new Problem({
      status: 416,
      code: 'range_not_satisfiable',
      detail: `expected a range within ${size} bytes`,
      members: { size },
      headers: { 'Content-Range': `bytes */${size}` },
    })
  }
  return ranges?.length === 1 ? ranges[0] : undefined
}

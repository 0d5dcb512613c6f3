import type { Request, Response } from 'express'
import type { Asset } from '../../core/bytes/asset.ts'
import { removeCdnLifetime, setLifetime } from '../caching/set-lifetime.ts'
import { callerOnly, stateOf } from '../request-state.ts'
import type { SentFile } from './sent-file.ts'

/** Which files callers are redirected to the bucket for. */
export interface BucketRedirect {
  applies(asset: Asset): boolean
}

// Playlists and storyboards name other files relative to their URL.
const NAMES_OTHERS = /mpegurl|^text\/vtt/i

/** @param minBytes the size of the smallest file */
export function bucketRedirect(minBytes: number): BucketRedirect {
  return {
    applies: ({ size, mediaType, urlFor }) =>
      size >= minBytes && urlFor !== undefined && !NAMES_OTHERS.test(mediaType),
  }
}

// No cache may deliver a redirect longer than its URL works.
const MAX_AGE_SECONDS = 600
// A caller follows the redirect within this time. The clocks of caches and of S3 differ by less.
const MARGIN_SECONDS = 60
// A URL that expires earlier may not work when the caller requests it.
const MIN_LEFT_MS = 5000

// They describe the file.
const FILE_HEADERS = [
  'Accept-Ranges',
  'Content-Disposition',
  'Content-Length',
  'Content-Range',
  'Content-Type',
  'ETag',
  'Last-Modified',
] as const

/** @returns false when this service has to send the file itself */
export async function redirectToBucket(
  req: Request,
  res: Response,
  { asset, ranges, maxAgeSeconds }: Pick<SentFile, 'asset' | 'ranges' | 'maxAgeSeconds'>,
): Promise<boolean> {
  const { headers } = req
  // The caller has the ETag or date of this service, which the bucket does not know, and the rest of the file suffices. After
  // an earlier redirect it has the ETag of the bucket: that makes `ranges` absent, and the bucket decides.
  if (headers['if-range'] !== undefined && ranges) return false
  // The CORS headers of the bucket may not permit cookies.
  if (stateOf(req).isCredentialed) return false
  // A bucket sends no digest.
  if (headers['want-repr-digest'] !== undefined) return false
  const created = asset.urlFor?.({
    until: callerOnly(req)?.until,
    mayBePublic: callerOnly(req) === undefined,
    headers: {
      cacheControl: String(res.getHeader('Cache-Control')),
      contentType: asset.mediaType,
      contentDisposition: res.getHeader('Content-Disposition')?.toString(),
    },
  })
  // Without credentials, no URL can be signed. A download reports the error of the bucket.
  const found = await created?.catch(() => undefined)
  if (!found) return false
  const { url, until = Number.POSITIVE_INFINITY } = found
  const leftMs = until - Date.now()
  if (leftMs < MIN_LEFT_MS) return false
  for (const name of FILE_HEADERS) res.removeHeader(name)
  const age = Math.min(maxAgeSeconds, MAX_AGE_SECONDS, Math.floor(leftMs / 1000) - MARGIN_SECONDS)
  // A CDN must not deliver the redirect as long as it would deliver the file.
  removeCdnLifetime(res)
  if (age > 0) setLifetime(req, res, { maxAgeSeconds: age })
  else res.setHeader('Cache-Control', 'no-store')
  res.status(302).setHeader('Location', url)
  res.setHeader('Content-Length', 0)
  res.end()
  return true
}

import type { Request, Response } from 'express'
import { callerOnly } from '../request-state.ts'
import { TAG_HEADERS } from './caching.ts'
import { cacheControlOf, cdnControlOf, type Lifetime } from './lifetime.ts'

/**
 * Sets `Cache-Control`, and the header for CDNs. The response to a signed URL or cookie is only for the caller, until it expires:
 * caches do not verify signatures.
 */
export function setLifetime(req: Request, res: Response, lifetime: Lifetime): void {
  const privateUntil = callerOnly(req)
  res.setHeader('Cache-Control', cacheControlOf(privateUntil, lifetime))
  const forCdn = privateUntil ? undefined : cdnControlOf(lifetime)
  removeCdnLifetime(res)
  if (forCdn) res.setHeader(...forCdn)
}

/** Removes what CDNs heed in place of `Cache-Control`, and the tags: for errors. */
export function removeCaching(res: Response): void {
  removeCdnLifetime(res)
  for (const { header } of Object.values(TAG_HEADERS)) res.removeHeader(header)
}

/** Removes the header for CDNs: they then heed `Cache-Control`. */
export function removeCdnLifetime(res: Response): void {
  res.removeHeader('CDN-Cache-Control')
  res.removeHeader('Surrogate-Control')
}

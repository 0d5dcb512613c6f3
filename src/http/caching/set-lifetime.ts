import type { Request, Response } from 'express'
import { stateOf } from '../request-state.ts'
import { TAG_HEADERS } from './caching.ts'
import { cacheControlOf, cdnControlOf, type Lifetime } from './lifetime.ts'

/**
 * Sets `Cache-Control`, and the header for CDNs. The response to a signed URL is only for the caller, until the URL expires: the
 * signature is not verified by caches.
 */
export function setLifetime(req: Request, res: Response, lifetime: Lifetime): void {
  const { signature } = stateOf(req)
  res.setHeader('Cache-Control', cacheControlOf(signature, lifetime))
  const forCdn = signature ? undefined : cdnControlOf(lifetime)
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

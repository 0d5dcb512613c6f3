import type { Request, Response } from 'express'
import { stateOf } from '../request-state.ts'
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

/** Removes the header for CDNs: they then heed `Cache-Control`. */
export function removeCdnLifetime(res: Response): void {
  res.removeHeader('CDN-Cache-Control')
  res.removeHeader('Surrogate-Control')
}

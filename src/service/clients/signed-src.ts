import type { Grant } from '../../core/clients/grant.ts'
import { needsSignedUrl } from '../../core/clients/signed-delivery.ts'
import { signedAddress } from '../../core/signing/signed-address.ts'
import type { UrlKey } from '../../core/signing/signed-url.ts'
import type { UrlKeys } from './url-keys.ts'

/** A delivery URL in a response or an event. */
export interface Src {
  src: string
  /** When the signature of `src` expires, in ISO 8601. Absent without a signature. */
  srcExpires?: string
}

/** Signs the delivery URL of a file, if it is only delivered by signed URLs. @param key of the file or derivative */
export type SignSrc = (url: string, key: string) => Src

// A day: pages that were rendered with it stay valid, and a URL that was passed on does not for long.
const LIFETIME_SECONDS = 86_400

/**
 * Creates the signer for one response or event.
 *
 * @param grant `until`: the expiry of the secret that requested the response. No URL outlives it
 * @param now in milliseconds since 1970
 */
export function createSignSrc(
  urlKeys: Pick<UrlKeys, 'newest'>,
  { client, until = Number.POSITIVE_INFINITY }: Pick<Grant, 'client' | 'until'>,
  now = Date.now(),
): SignSrc {
  let known: UrlKey | undefined
  const expires = Math.min(Math.floor(now / 1000) + LIFETIME_SECONDS, Math.ceil(until / 1000))
  return (url, path) => {
    if (!needsSignedUrl(client, path)) return { src: url }
    known ??= urlKeys.newest(client)
    if (!known) return { src: url }
    return {
      src: signedAddress(url, { key: known, until: expires }),
      srcExpires: new Date(1000 * expires).toISOString(),
    }
  }
}

/** For callers without a secret, who may not read all files: leaves URLs unsigned. */
export const unsignedSrc: SignSrc = (src) => ({ src })

/** The response header with the lifetime for CDNs. */
export type CdnHeader = 's-maxage' | 'CDN-Cache-Control' | 'Surrogate-Control'

/** How long caches may store a response. */
export interface Lifetime {
  maxAgeSeconds: number
  /** For shared caches, if it differs. */
  cdnSeconds?: number | undefined
  /** The header for `cdnSeconds`. Default: `s-maxage` in `Cache-Control`. */
  cdnHeader?: CdnHeader | undefined
  /** How much longer caches may deliver it while they request it again. Default: 0. */
  staleSeconds?: number | undefined
  /** How much longer caches may deliver it while this service fails. Default: 0. */
  staleIfErrorSeconds?: number | undefined
}

// One week.
export const MAX_AGE_SECONDS = 604_800

/**
 * For a URL that may deliver another file later. Caches deliver the former file for at most two minutes after it was replaced: until
 * they validate it, and once more while they do.
 */
export const REPLACEABLE: Lifetime = { maxAgeSeconds: 60, staleSeconds: 60 }

/** For a response in place of the requested one, which may be available soon: a limit was raised, or the load is over. */
export const PASSING: Lifetime = { maxAgeSeconds: 60 }

/** `Cache-Control` of a response that is only for the caller, by a signature, or for everyone. @see RFC 9111 section 5.2.2, RFC 5861 */
export function cacheControlOf(
  privateUntil: { until?: number } | undefined,
  { maxAgeSeconds, cdnSeconds, cdnHeader = 's-maxage', staleSeconds, staleIfErrorSeconds }: Lifetime,
): string {
  if (!privateUntil) {
    const shared = cdnHeader === 's-maxage' ? directive('s-maxage', cdnSeconds) : ''
    return `public, max-age=${maxAgeSeconds}${shared}${staleOf({ staleSeconds, staleIfErrorSeconds })}`
  }
  const { until = Number.POSITIVE_INFINITY } = privateUntil
  const left = Math.max(0, Math.floor((until - Date.now()) / 1000))
  const maxAge = Math.min(maxAgeSeconds, MAX_AGE_SECONDS, left)
  const within = (seconds = 0) => Math.min(seconds, MAX_AGE_SECONDS - maxAge, left - maxAge) || undefined
  const stale = { staleSeconds: within(staleSeconds), staleIfErrorSeconds: within(staleIfErrorSeconds) }
  return `private, max-age=${maxAge}${staleOf(stale)}`
}

/** The header for CDNs; undefined if they have the same lifetime as browsers. @see RFC 9213 */
export function cdnControlOf(lifetime: Lifetime): [name: CdnHeader, value: string] | undefined {
  const { cdnSeconds, cdnHeader = 's-maxage' } = lifetime
  if (cdnSeconds === undefined || cdnHeader === 's-maxage') return undefined
  const isPublic = cdnHeader === 'CDN-Cache-Control' ? 'public, ' : ''
  return [cdnHeader, `${isPublic}max-age=${cdnSeconds}${staleOf(lifetime)}`]
}

function staleOf({
  staleSeconds,
  staleIfErrorSeconds,
}: Pick<Lifetime, 'staleSeconds' | 'staleIfErrorSeconds'>): string {
  const revalidate = directive('stale-while-revalidate', staleSeconds || undefined)
  return `${revalidate}${directive('stale-if-error', staleIfErrorSeconds || undefined)}`
}

function directive(name: string, seconds: number | undefined): string {
  return seconds === undefined ? '' : `, ${name}=${seconds}`
}

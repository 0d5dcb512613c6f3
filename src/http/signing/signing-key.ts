import type { Grant } from '../../core/clients/grant.ts'
import { Problem } from '../../core/problem.ts'
import type { UrlKey } from '../../core/signing/signed-url.ts'
import type { Clients } from '../../service/clients/clients.ts'

/** The key that signs for this client. @throws Problem 409 for a client without one */
export function signingKey({ client }: Grant, { urlKeys }: Pick<Clients, 'urlKeys'>): UrlKey {
  const key = urlKeys.newest(client)
  if (key) return key
  throw new Problem({
    status: 409,
    code: 'client_conflict',
    detail: 'This client has no URL key. The operator can add one with `sluice client key add`.',
  })
}

/**
 * When a signature expires, in seconds since 1970. It never outlives the secret that has requested it.
 *
 * @param expiresIn the requested lifetime in seconds; undefined: as long as the secret
 * @returns undefined: never
 */
export function expiryWithin({ until }: Grant, expiresIn?: number): number | undefined {
  const requested =
    expiresIn === undefined ? Number.POSITIVE_INFINITY : Math.floor(Date.now() / 1000) + expiresIn
  const expiry = Math.min(requested, until === undefined ? Number.POSITIVE_INFINITY : Math.ceil(until / 1000))
  return Number.isFinite(expiry) ? expiry : undefined
}

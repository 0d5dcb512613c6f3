import type { Request, Response } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { LimitName } from '../../core/clients/limit-names.ts'
import type { Limit, Limits, RateLimiter, RateVerdict } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { Asker } from '../../service/remote/fetch-places.ts'
import { clientIp } from './client-ip.ts'

interface Taken {
  /** The name in the headers: `zip` for the limit of a client, `zip_address` for that of an IP address. */
  policy: string
  limiter: RateLimiter
  verdict: RateVerdict
}

interface Charge {
  limited: LimitName
  client?: Client
  asker?: Asker
  /** Who signs in, in place of a client. */
  account?: string | undefined
  /** Whether only the points of the IP address count; called after one of them was taken. */
  isKnownAddress?: () => Promise<boolean>
}

/**
 * Takes a point of the caller's IP address, then one of the client. `RateLimit` and `RateLimit-Policy` state how many are left
 * of both. Responses to GET and HEAD have these headers only when they are refused, since shared caches store the others.
 *
 * @param client whose points are taken; absent while the client is unknown
 * @param asker `anyone` has points of its own, so that strangers cannot use up those of callers with a secret. A fetch with a
 *   secret takes no point of an IP address: a back end has only one
 * @throws Problem 429 with `Retry-After`
 * @see draft-ietf-httpapi-ratelimit-headers-10
 */
export async function consumeRateLimit(
  req: Request,
  res: Response,
  { limits, ...charge }: Charge & { limits: Limits },
): Promise<void> {
  const taken: Taken[] = []
  const addressPolicy = addressPolicyOf(charge.limited)
  for (const [policy, limiter, key] of countersOf(limits[charge.limited], { ...charge, req })) {
    if (!limiter) continue
    const verdict = await limiter.consume(key)
    taken.unshift({ policy, limiter, verdict })
    if (!verdict.allowed || (policy === addressPolicy && (await charge.isKnownAddress?.()))) break
  }
  const refused = taken.find(({ verdict }) => !verdict.allowed)
  if (taken.length === 0 || (!refused && ['GET', 'HEAD'].includes(req.method))) return
  const fields = (format: (one: Taken) => string) =>
    taken.map((one) => `"${one.policy}";${format(one)}`).join(', ')
  res.setHeader(
    'RateLimit-Policy',
    fields(({ limiter }) => `q=${limiter.points};w=${limiter.seconds}`),
  )
  res.setHeader(
    'RateLimit',
    fields(({ verdict }) => `r=${verdict.remaining};t=${secondsOf(verdict)}`),
  )
  if (refused) throw tooOften(refused)
}

// The IP address first: a caller that is refused by it takes no point of the client, whose token is public.
function countersOf(
  limit: Limit,
  { limited, req, client, account, asker = 'secret' }: Charge & { req: Request },
): ReadonlyArray<readonly [policy: string, limiter: RateLimiter | undefined, key: string]> {
  const byAddress = limited === 'fetch' && asker === 'secret' ? undefined : limit.byAddress
  return [
    [addressPolicyOf(limited), byAddress, clientIp(req)],
    // Requests without a client share one counter.
    [
      limited,
      ofClient(limit, limited === 'sign_in' ? undefined : client?.rules?.rates?.[limited]),
      `${account ?? client?.id ?? 'all'}${asker === 'anyone' ? ' public' : ''}`,
    ],
  ]
}

function addressPolicyOf(limited: LimitName): string {
  return `${limited}_address`
}

/** @param own the limit in the client's rules; 0: no limit */
function ofClient({ byClient, byClientWith }: Limit, own: number | undefined): RateLimiter | undefined {
  if (own === undefined) return byClient
  return own === 0 ? undefined : byClientWith(own)
}

function secondsOf({ resetMs }: RateVerdict): number {
  return Math.ceil(resetMs / 1000)
}

function tooOften({ policy, limiter, verdict }: Taken): Problem {
  const retryAfterSeconds = Math.max(1, secondsOf(verdict))
  const whose = policy.endsWith('_address') ? ' from your IP address' : ''
  return new Problem({
    status: 429,
    code: 'rate_limited',
    detail: `Too many requests${whose} (limit ${limiter.points} in ${limiter.seconds} s). Retry after ${retryAfterSeconds} s.`,
    members: { limit: policy, retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}

import type { Request, Response } from 'express'
import type { Client } from '../../core/clients/client.ts'
import type { LimitName } from '../../core/clients/limit-names.ts'
import type { Limit, Limits, RateLimiter, RateVerdict } from '../../core/ports/rate-limiter.ts'
import { Problem } from '../../core/problem.ts'
import type { Asker } from '../../service/remote/fetch-places.ts'
import { clientIp } from './client-ip.ts'

interface Taken {
  /** As the headers call it: `zip` for a client's, `zip_address` for an address's. */
  policy: string
  limiter: RateLimiter
  verdict: RateVerdict
}

interface Asked {
  limited: LimitName
  client?: Client
  asker?: Asker
  /** Whether only the points of the address count; called after one of them was taken. */
  isKnownAddress?: () => Promise<boolean>
}

/**
 * Takes a point of the caller's address, then one of the client, and says in `RateLimit` and `RateLimit-Policy` what is left
 * of both; of what is read only to whoever is refused, since caches keep the other answers for everybody.
 *
 * @param client whose points are taken; absent for what nobody is known to ask for yet
 * @param asker `anyone`: counted apart, so that strangers leave who has a secret alone; fetches with a secret take no point of an
 *   address, since a back end is a single one
 * @throws Problem 429 with `Retry-After`
 * @see draft-ietf-httpapi-ratelimit-headers-10
 */
export async function consumeRateLimit(
  req: Request,
  res: Response,
  { limits, ...asked }: Asked & { limits: Limits },
): Promise<void> {
  const taken: Taken[] = []
  const addressPolicy = addressPolicyOf(asked.limited)
  for (const [policy, limiter, key] of countersOf(limits[asked.limited], { ...asked, req })) {
    if (!limiter) continue
    const verdict = await limiter.consume(key)
    taken.unshift({ policy, limiter, verdict })
    if (!verdict.allowed || (policy === addressPolicy && (await asked.isKnownAddress?.()))) break
  }
  const refused = taken.find(({ verdict }) => !verdict.allowed)
  if (taken.length === 0 || (!refused && ['GET', 'HEAD'].includes(req.method))) return
  const told = (tell: (one: Taken) => string) => taken.map((one) => `"${one.policy}";${tell(one)}`).join(', ')
  res.setHeader(
    'RateLimit-Policy',
    told(({ limiter }) => `q=${limiter.points};w=${limiter.seconds}`),
  )
  res.setHeader(
    'RateLimit',
    told(({ verdict }) => `r=${verdict.remaining};t=${secondsOf(verdict)}`),
  )
  if (refused) throw tooOften(refused)
}

// The address first: who is refused by it takes nothing from a client, whose name anybody can use.
function countersOf(
  limit: Limit,
  { limited, req, client, asker = 'secret' }: Asked & { req: Request },
): ReadonlyArray<readonly [policy: string, limiter: RateLimiter | undefined, key: string]> {
  const byAddress = limited === 'fetch' && asker === 'secret' ? undefined : limit.byAddress
  return [
    [addressPolicyOf(limited), byAddress, clientIp(req)],
    // What no client asks for has one count for all.
    [
      limited,
      ofClient(limit, limited === 'sign_in' ? undefined : client?.rules?.rates?.[limited]),
      `${client?.id ?? 'all'}${asker === 'anyone' ? ' public' : ''}`,
    ],
  ]
}

function addressPolicyOf(limited: LimitName): string {
  return `${limited}_address`
}

/** @param own what the client's rules say; 0: as often as it likes */
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

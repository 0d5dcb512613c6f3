import type { Response } from 'express'
import type { RateLimiter } from '../core/ports/rate-limiter.ts'
import { Problem } from '../core/problem.ts'

/**
 * Takes a point, and says in `RateLimit` and `RateLimit-Policy` what is left.
 *
 * @param policy the limit's name in those headers
 * @throws Problem 429 with `Retry-After`
 * @see draft-ietf-httpapi-ratelimit-headers-10
 */
export async function takePoint(
  res: Response,
  limiter: RateLimiter,
  { policy, key }: { policy: string; key: string },
): Promise<void> {
  const { allowed, remaining, resetMs } = await limiter.consume(key)
  const resetSeconds = Math.ceil(resetMs / 1000)
  res.setHeader('RateLimit-Policy', `"${policy}";q=${limiter.points};w=${limiter.seconds}`)
  res.setHeader('RateLimit', `"${policy}";r=${remaining};t=${resetSeconds}`)
  if (allowed) return
  const retryAfterSeconds = Math.max(1, resetSeconds)
  throw new Problem({
    status: 429,
    code: 'rate_limited',
    detail: `expected at most ${limiter.points} requests in ${limiter.seconds} s; try again in ${retryAfterSeconds} s`,
    members: { retryAfterSeconds },
    headers: { 'Retry-After': String(retryAfterSeconds) },
  })
}

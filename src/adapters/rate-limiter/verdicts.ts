import { type RateLimiterAbstract, RateLimiterRes, type RLWrapperTimeouts } from 'rate-limiter-flexible'
import type { RateLimiter, RateVerdict } from '../../core/ports/rate-limiter.ts'

/** A limiter of the package as the port wants it: a refusal is an answer, not an error. */
export function withVerdicts(
  limiter: RateLimiterAbstract | RLWrapperTimeouts,
  { points, seconds }: { points: number; seconds: number },
): RateLimiter {
  return {
    points,
    seconds,
    async consume(key) {
      try {
        return verdict(true, await limiter.consume(key))
      } catch (refused) {
        if (refused instanceof RateLimiterRes) return verdict(false, refused)
        throw refused
      }
    },
  }
}

function verdict(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): RateVerdict {
  return { allowed, remaining: Math.max(0, remainingPoints), resetMs: Math.max(0, msBeforeNext) }
}

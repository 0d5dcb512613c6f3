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
    async look(key) {
      const counted = await limiter.get(key)
      if (counted === null || counted.msBeforeNext <= 0)
        return { allowed: true, remaining: points, resetMs: 0 }
      // Not the outcome's `remainingPoints`: a wrapper counts them by its own limit, which is 0.
      const remaining = Math.max(0, points - counted.consumedPoints)
      return { allowed: remaining > 0, remaining, resetMs: counted.msBeforeNext }
    },
    async charge(key, spent) {
      await limiter.penalty(key, spent)
    },
  }
}

function verdict(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes): RateVerdict {
  return { allowed, remaining: Math.max(0, remainingPoints), resetMs: Math.max(0, msBeforeNext) }
}

import { type RateLimiterAbstract, RateLimiterRes, type RLWrapperTimeouts } from 'rate-limiter-flexible'
import type { RateLimiter, RateVerdict } from '../../core/ports/rate-limiter.ts'

/** Adapts a limiter of the package to the port: a refusal is a result, not an error. */
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
      // Not `remainingPoints` of the result: a wrapper computes it from its own limit, which is 0.
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

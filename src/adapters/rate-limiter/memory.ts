import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { RateLimiter } from '../../core/ports/rate-limiter.ts'

/** Counts in this process's memory; a restart forgets. */
export function memoryRateLimiter({ points, seconds }: { points: number; seconds: number }): RateLimiter {
  const limiter = new RateLimiterMemory({ points, duration: seconds })
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

function verdict(allowed: boolean, { remainingPoints, msBeforeNext }: RateLimiterRes) {
  return { allowed, remaining: Math.max(0, remainingPoints), resetMs: Math.max(0, msBeforeNext) }
}

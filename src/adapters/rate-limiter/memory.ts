import { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimiter } from '../../core/ports/rate-limiter.ts'
import { withVerdicts } from './verdicts.ts'

/** Counts in the memory of this process. A restart resets the counts. */
export function memoryRateLimiter({ points, seconds }: { points: number; seconds: number }): RateLimiter {
  return withVerdicts(new RateLimiterMemory({ points, duration: seconds }), { points, seconds })
}

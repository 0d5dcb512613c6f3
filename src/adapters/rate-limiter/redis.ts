import { RateLimiterMemory, RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import type { RateLimiter } from '../../core/ports/rate-limiter.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { withVerdicts } from './verdicts.ts'

// What a request may lose here when Redis has stopped answering, until the connection is found to be dead.
const PATIENCE_MS = 800

/**
 * Counts in Redis, for all processes together; each for itself in its memory while Redis is away. Limiters with
 * different names count apart.
 */
export function redisRateLimiter(
  redis: RedisConnection,
  { keyPrefix, name, points, seconds }: { keyPrefix: string; name: string; points: number; seconds: number },
): RateLimiter {
  const limit = { points, duration: seconds }
  const limiter = new RLWrapperTimeouts({
    limiter: new RateLimiterRedis({
      ...limit,
      storeClient: redis.client,
      keyPrefix: `${keyPrefix}rate:${name}`,
      rejectIfRedisNotReady: true,
    }),
    timeoutMs: PATIENCE_MS,
    // Not the inner one's: after a timeout it would take the point a second time, when its own command fails.
    insuranceLimiter: new RateLimiterMemory(limit),
  })
  return withVerdicts(limiter, { points, seconds })
}

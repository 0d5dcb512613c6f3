import { RateLimiterRedis, RLWrapperTimeouts } from 'rate-limiter-flexible'
import type { RateLimiter } from '../../core/ports/rate-limiter.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { BoundedMemory } from './memory.ts'
import { withVerdicts } from './verdicts.ts'

// Maximum delay of a request while Redis does not respond, until the connection is recognized as dead.
const PATIENCE_MS = 800

/**
 * Counts in Redis, shared by all processes. While Redis is down, each process counts in its own memory. Limiters with
 * different names have separate counts.
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
    // On the wrapper, not on the inner limiter: that one would consume a second point after a timeout, when its command fails.
    insuranceLimiter: new BoundedMemory(limit),
  })
  return withVerdicts(limiter, { points, seconds })
}

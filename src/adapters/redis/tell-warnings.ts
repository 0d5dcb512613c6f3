import type { Log } from '../../core/log.ts'
import { type RedisConnection, warnings } from './connection.ts'

/** Logs settings of the Redis server that may lose data, or that it cannot be reached. Never throws. */
export async function tellWarnings(redis: RedisConnection, log: Log): Promise<void> {
  try {
    await redis.ready()
    for (const warning of await warnings(redis)) log.warn({}, warning)
  } catch (error) {
    log.warn(
      { err: error },
      'Redis cannot be reached: stored files are delivered, all other requests wait for Redis',
    )
  }
}

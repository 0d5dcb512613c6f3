import type { Log } from '../../core/log.ts'
import { type RedisConnection, warnings } from './connection.ts'
import { adviceOf, replyIn, tryRedis } from './refusals.ts'

/** Logs settings of the Redis server that may lose data, or why it cannot be used. Never throws. */
export async function tellWarnings(
  redis: RedisConnection,
  { log, keyPrefix }: { log: Log; keyPrefix: string },
): Promise<void> {
  try {
    await redis.ready()
    await tryRedis(redis, { keyPrefix })
    for (const warning of await warnings(redis)) log.warn({}, warning)
  } catch (error) {
    const reply = replyIn(error)
    const until = 'stored files are delivered, all other requests wait for Redis'
    if (!reply) log.warn({ err: error }, `Redis cannot be reached: ${until}`)
    else log.error({}, `Redis refuses commands: ${until}. ${reply.message}. ${adviceOf(error) ?? ''}`.trim())
  }
}

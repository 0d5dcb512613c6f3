import type { Log } from '../../core/log.ts'
import { warnings } from './connection.ts'
import type { RedisKeyspaces } from './keyspaces.ts'
import { adviceOf, replyIn, tryRedis } from './refusals.ts'

/** Logs settings of the Redis server that may lose data, or why it cannot be used. Never throws. */
export async function tellWarnings(keyspaces: RedisKeyspaces, log: Log): Promise<void> {
  try {
    await keyspaces.ready()
    await Promise.all(keyspaces.all.map(({ redis, keyPrefix }) => tryRedis(redis, { keyPrefix })))
    // Connections to one server, and nodes with equal settings, have the same warnings.
    const found = await Promise.all(keyspaces.all.map(({ redis }) => warnings(redis)))
    for (const warning of new Set(found.flat())) log.warn({}, warning)
  } catch (error) {
    const reply = replyIn(error)
    const until = 'stored files are delivered, all other requests wait for Redis'
    if (!reply) log.warn({ err: error }, `Redis cannot be reached: ${until}`)
    else log.error({}, `Redis refuses commands: ${until}. ${reply.message}. ${adviceOf(error) ?? ''}`.trim())
  }
}

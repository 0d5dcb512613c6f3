import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../../redis/connection.ts'
import { redisScript } from '../../redis/script.ts'

/**
 * The name of the current run of Redis. It changes with each restart, failover and resynchronization, after which the last
 * writes may be missing, and when the keys were deleted (FLUSHALL). Undefined where INFO is forbidden, as on some hosted services.
 *
 * @throws Problem 503 when Redis is unavailable
 */
export async function runOf(
  redis: RedisConnection,
  { keyPrefix }: { keyPrefix: string },
): Promise<string | undefined> {
  const [server, replication, data] = await Promise.all([
    info(redis, 'server'),
    info(redis, 'replication'),
    nameOfData(redis, [`${keyPrefix}data`], [randomUUID()]),
  ])
  const run = /^run_id:(\w+)/m.exec(server)?.[1]
  const history = /^master_replid:(\w+)/m.exec(replication)?.[1]
  return run && `${run} ${history ?? ''} ${data}`
}

// Lost together with all other keys.
const nameOfData = redisScript(`
local known = redis.call('GET', KEYS[1])
if not known then redis.call('SET', KEYS[1], ARGV[1]) end
return known or ARGV[1]`)

function info(redis: RedisConnection, section: string): Promise<string> {
  return redis.send(async (client) => {
    try {
      return await client.info(section)
    } catch (error) {
      if ((error as Error).name === 'ReplyError') return ''
      throw error
    }
  })
}

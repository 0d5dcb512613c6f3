import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../../redis/connection.ts'
import { redisScript } from '../../redis/script.ts'

/**
 * The names of the current run of Redis, and of its data. The run changes with each restart, failover and resynchronization, after
 * which the last writes may be missing, and when the keys were deleted (FLUSHALL). Its `id` is undefined where INFO is forbidden, as on
 * some hosted services. `data` only changes when the keys were deleted.
 *
 * @throws Problem 503 when Redis is unavailable
 */
export async function runOf(
  redis: RedisConnection,
  { prefix }: { prefix: string },
): Promise<{ id: string | undefined; data: string }> {
  const [server, replication, name] = await Promise.all([
    info(redis, 'server'),
    info(redis, 'replication'),
    nameOfData(redis, [dataKey(prefix)], [randomUUID()]),
  ])
  const run = /^run_id:(\w+)/m.exec(server)?.[1]
  const history = /^master_replid:(\w+)/m.exec(replication)?.[1]
  const data = String(name)
  return { id: run && `${run} ${history ?? ''} ${data}`, data }
}

export const dataKey = (prefix: string) => `${prefix}data`

// Lost together with all other keys.
const nameOfData = redisScript(`
local known = redis.call('GET', KEYS[1])
if not known then redis.call('SET', KEYS[1], ARGV[1]) end
return known or ARGV[1]`)

/** Sets marks, unless the keys were deleted since the data had a name. KEYS: that of the name, marks. ARGV: the name. */
export const setMarks = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return end
for i = 2, #KEYS do redis.call('SET', KEYS[i], 1) end`)

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

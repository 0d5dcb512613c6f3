import type { RedisConnection } from '../../redis/connection.ts'

/**
 * The name of the current run of Redis. It changes with each restart, failover and resynchronization, after which the last
 * writes may be missing. Undefined where INFO is forbidden, as on some hosted services.
 *
 * @throws Problem 503 when Redis is unavailable
 */
export async function runOf(redis: RedisConnection): Promise<string | undefined> {
  const [server, replication] = await Promise.all([info(redis, 'server'), info(redis, 'replication')])
  const run = /^run_id:(\w+)/m.exec(server)?.[1]
  const history = /^master_replid:(\w+)/m.exec(replication)?.[1]
  return run && `${run} ${history ?? ''}`
}

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

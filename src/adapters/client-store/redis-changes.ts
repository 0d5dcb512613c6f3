import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../redis-connection.ts'
import type { ClientChanges } from './bucket.ts'

/**
 * A name that is new after each change of a client. Not a count: on an emptied Redis that would begin anew, and come
 * to a number that others have seen.
 */
export function redisClientChanges(
  redis: RedisConnection,
  { keyPrefix }: { keyPrefix: string },
): ClientChanges {
  const key = `${keyPrefix}clients`
  return {
    announce: async () => void (await redis.send((client) => client.set(key, randomUUID()))),
    version: async () => (await redis.send((client) => client.get(key))) ?? undefined,
  }
}

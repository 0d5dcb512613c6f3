import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../redis/connection.ts'
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
    version: () =>
      redis.send(async (client) => {
        const version = await client.get(key)
        if (version !== null) return version
        // Were there none, then the first change, if Redis lost it before anyone looked, would leave none as well.
        await client.set(key, randomUUID(), 'NX')
        return (await client.get(key)) ?? undefined
      }),
  }
}

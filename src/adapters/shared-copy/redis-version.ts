import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../redis/connection.ts'
import type { SharedVersion } from './shared-copy.ts'

/**
 * A version with a new random name after each change of what `name` names. A counter would start again on an emptied Redis, and
 * could reach a number that other processes have already seen.
 */
export function redisSharedVersion(
  redis: RedisConnection,
  { keyPrefix, name }: { keyPrefix: string; name: string },
): SharedVersion {
  const key = `${keyPrefix}${name}`
  return {
    announce: async () => void (await redis.send((client) => client.set(key, randomUUID()))),
    version: () =>
      redis.send(async (client) => {
        const version = await client.get(key)
        if (version !== null) return version
        // Always set a version. Without one, a first change that Redis loses before any process reads it would go unnoticed.
        await client.set(key, randomUUID(), 'NX')
        return (await client.get(key)) ?? undefined
      }),
  }
}

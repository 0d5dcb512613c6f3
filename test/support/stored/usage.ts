import { join } from 'node:path'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { embeddedUsage } from '../../../src/adapters/usage/embedded.ts'
import { redisUsage } from '../../../src/adapters/usage/redis.ts'
import type { UsageStore } from '../../../src/core/ports/usage.ts'
import type { Backend } from '../backend.ts'

/** Counts usage of other days, before a service with this data folder starts. */
export async function addUsage(
  backend: Backend,
  dataDir: string,
  usage: Parameters<UsageStore['add']>[0],
): Promise<void> {
  const { REDIS_URL: url } = await backend.env(dataDir)
  if (url === undefined) {
    const store = await embeddedUsage(join(dataDir, 'usage'))
    await store.add(usage)
    return store.close()
  }
  const redis = connectRedis({ url })
  await redis.ready()
  await redisUsage(redis, { keyPrefix: '{sluice}:' }).add(usage)
  await redis.close()
}

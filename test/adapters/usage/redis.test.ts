import { expect } from 'chai'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { redisUsage } from '../../../src/adapters/usage/redis.ts'
import { USAGE_RETENTION_DAYS } from '../../../src/core/ports/usage.ts'
import { dayOf, daysBefore } from '../../../src/core/text/day.ts'
import { usageStoreContract } from '../../contracts/usage.ts'
import { newKeyPrefix, sharedRedis } from '../../support/servers/redis-server.ts'

async function connected() {
  const redis = connectRedis({ url: (await sharedRedis()).url })
  await redis.ready()
  return redis
}

usageStoreContract('Redis', async () => {
  const connections = [await connected(), await connected()] as const
  const options = { keyPrefix: newKeyPrefix() }
  return {
    store: redisUsage(connections[0], options),
    elsewhere: redisUsage(connections[1], options),
    close: async () => {
      await Promise.all(connections.map((each) => each.close()))
    },
  }
})

describe('usage in Redis', () => {
  let redis: RedisConnection
  before(async () => {
    redis = await connected()
  })
  after(() => redis.close())

  it('has its counts for the retention time, and all keys expire', async () => {
    const keyPrefix = newKeyPrefix()
    const day = daysBefore(dayOf(Date.now()), 1)
    await redisUsage(redis, { keyPrefix }).add([
      { clientId: 'a', day, counts: { uploads: 1 } },
      { clientId: 'b', day, counts: { deliveries: 1 } },
    ])
    const names = await redis.client.keys(`${keyPrefix}*`)
    expect(names.sort()).to.deep.equal(['a', 'b'].map((id) => `${keyPrefix}usage:${id}/${day}`))
    const seconds = USAGE_RETENTION_DAYS * 86_400
    for (const name of names) expect(await redis.client.ttl(name)).to.be.within(seconds - 60, seconds)
  })
})

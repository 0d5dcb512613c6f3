import { expect } from 'chai'
import { redisRateLimiter } from '../../../src/adapters/rate-limiter/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { rateLimiterContract } from '../../contracts/rate-limiter.ts'
import { inTime } from '../../support/promised.ts'
import {
  newKeyPrefix,
  type RedisServer,
  sharedRedis,
  startRedis,
} from '../../support/servers/redis-server.ts'
import { failOnUnhandledRejection } from '../../support/unhandled.ts'

const HOUR_MS = 3_600_000

rateLimiterContract('redis', async (limit) => {
  const { url } = await sharedRedis()
  const connections = [connectRedis({ url }), connectRedis({ url })] as const
  await Promise.all(connections.map((one) => one.ready()))
  const options = { ...limit, keyPrefix: newKeyPrefix(), name: 'test' }
  return {
    limiter: redisRateLimiter(connections[0], options),
    elsewhere: redisRateLimiter(connections[1], options),
    async close() {
      await Promise.all(connections.map((one) => one.close()))
    },
  }
})

describe('redis: rate limiters', () => {
  failOnUnhandledRejection()
  let server: RedisServer
  let redis: RedisConnection
  let keyPrefix: string

  before(async () => {
    server = await startRedis({ fails: true })
  })
  after(() => server.remove())
  beforeEach(async () => {
    keyPrefix = newKeyPrefix()
    redis = connectRedis({ url: server.url })
    await redis.ready()
  })
  afterEach(async () => {
    server.thaw()
    await server.start()
    await redis.close()
  })

  const limiterOn = (connection: RedisConnection, name = 'zip', points = 3) =>
    redisRateLimiter(connection, { keyPrefix, name, points, seconds: 3600 })

  it('have separate counts when their names differ, and all keys expire', async () => {
    for (const name of ['zip', 'sign'])
      expect(await limiterOn(redis, name, 1).consume('k')).to.include({ allowed: true, remaining: 0 })
    const keys = await redis.client.keys(`${keyPrefix}*`)
    expect(keys.sort()).to.deep.equal(['sign', 'zip'].map((name) => `${keyPrefix}rate:${name}:k`))
    for (const key of keys) expect(await redis.client.pttl(key)).to.be.within(1_000_000, HOUR_MS)
  })

  for (const how of ['freeze', 'stop'] as const) {
    it(`count in memory while Redis is down (${how}), each point once, without long waits`, async () => {
      const limiter = limiterOn(redis)
      expect(await limiter.consume('k')).to.include({ allowed: true, remaining: 2 })
      await server[how]()
      const remaining: number[] = []
      for (let time = 0; time < 4; time += 1) {
        const verdict = await inTime('a count', limiter.consume('k'))
        expect(verdict.allowed).to.equal(time < 3)
        expect(verdict.resetMs).to.be.within(1_000_000, HOUR_MS)
        remaining.push(verdict.remaining)
      }
      expect(remaining).to.deep.equal([2, 1, 0, 0])
    })
  }

  it('count in Redis again when it is back', async () => {
    const other = connectRedis({ url: server.url })
    try {
      await other.ready()
      const [limiter, elsewhere] = [limiterOn(redis), limiterOn(other)]
      await server.stop()
      for (let time = 0; time < 4; time += 1) await limiter.consume('k')
      await server.start()
      await Promise.all([redis.ready(), other.ready()])
      expect(await limiter.consume('k')).to.include({ allowed: true, remaining: 2 })
      expect(await elsewhere.consume('k')).to.include({ allowed: true, remaining: 1 })
    } finally {
      await other.close()
    }
  })

  it('count in memory before the first connection', async () => {
    await server.stop()
    const early = connectRedis({ url: server.url })
    try {
      expect(await limiterOn(early).consume('k')).to.include({ allowed: true, remaining: 2 })
    } finally {
      await early.close()
    }
  })
})

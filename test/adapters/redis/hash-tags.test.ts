import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { redisIndex } from '../../../src/adapters/file-index/redis/redis.ts'
import { redisLocks } from '../../../src/adapters/locks/redis.ts'
import { redisRateLimiter } from '../../../src/adapters/rate-limiter/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { derivativeKey, storedKey } from '../../../src/core/files/object-key.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { type RedisServer, startRedis } from '../../support/servers/redis-server.ts'

const limitMs = 30_000

describe('a Redis cluster, which refuses scripts over keys of two nodes', () => {
  let server: RedisServer
  let redis: RedisConnection

  // A cluster of one machine, which has all slots.
  before(async () => {
    server = await startRedis({ options: ['--cluster-enabled', 'yes'] })
    redis = connectRedis({ url: server.url })
    await redis.ready()
    await redis.client.cluster('ADDSLOTSRANGE', 0, 16383)
    await eventually(() => redis.client.set('x', 'the cluster is up'))
  })
  after(async () => {
    await redis.close()
    await server.remove()
  })

  /** Every step once, over two originals. */
  async function stepsOfTheIndex(keyPrefix: string): Promise<void> {
    const index = redisIndex(redis, { keyPrefix })
    const clientId = 'first'
    const keys = ['a', 'b'].map((folder) => storedKey(`${folder}/image/png/${'1'.repeat(22)}.png`))
    const refs = keys.map((key) => ({ clientId, key }))
    const records = keys.map((key) => ({
      key,
      originalName: 'a.png',
      mediaType: 'image/png',
      size: 1,
      sha256: '00',
      storedAt: 1,
    }))
    for (const ref of refs) await index.beginUpload(ref, 1000)
    await index.renewUpload(refs, 2000)
    expect(await index.finishUpload(clientId, records)).to.equal(true)
    for (const ref of refs) {
      const derivative = derivativeKey(ref.key, 'w=1')
      await index.beginDerivative(ref, derivative, 1000)
      await index.finishDerivative(ref, { key: derivative, mediaType: 'image/png', size: 1 })
      await index.beginDerivative(ref, derivative, 1000)
      expect(await index.find(ref, derivative)).to.have.keys('original', 'derivative')
      expect(await index.beginRemoval(ref, { cause: 'delete', leaseUntil: 9, now: 1 })).to.deep.equal([
        derivative,
      ])
      await index.finishRemoval(ref, 1)
      const overdue: unknown[] = []
      for await (const item of index.overdue(1000)) overdue.push(item)
      expect(overdue).to.deep.equal([{ kind: 'original', ref }])
      await index.dropDerivative(ref, derivative, 1000)
    }
  }

  it('serves the index when a hash tag keeps its keys on one node', () => stepsOfTheIndex('{sluice}:'))

  it('serves no index without a hash tag, and reports why', async () => {
    const failure = (await rejection(stepsOfTheIndex('sluice:'))) as Error
    expect(failure).to.include({ status: 503 })
    expect(String(failure.cause)).to.match(/same slot/)
  })

  it('serves locks of any name', async () => {
    const two = [redis, redis].map((one) => redisLocks(one, { keyPrefix: 'sluice:' }))
    try {
      for (const name of ['plain', 'a{b}c', '}', '{', '%7D', '{}', 'a b/c', 'ü']) {
        const asked = two.map((locks) =>
          locks.share(
            name,
            async () => {
              await pause(10)
              return name
            },
            { limitMs },
          ),
        )
        expect(await Promise.all(asked)).to.deep.equal([name, name])
      }
    } finally {
      await Promise.all(two.map((locks) => locks.close()))
    }
  })

  it('serves rate limits', async () => {
    const limit = { keyPrefix: 'sluice:', name: 'zip', points: 1, seconds: 60 }
    const [one, other] = [redisRateLimiter(redis, limit), redisRateLimiter(redis, limit)]
    expect(await one.consume('k')).to.include({ allowed: true })
    expect(await other.consume('k')).to.include({ allowed: false })
  })
})

import { expect } from 'chai'
import { redisHandover } from '../../../src/adapters/handover/redis.ts'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { Problem } from '../../../src/core/problem.ts'
import { handoverContract } from '../../contracts/handover.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { newKeyPrefix, sharedRedis, startRedis } from '../../support/servers/redis-server.ts'

const { signal } = new AbortController()
const wanted = () => {}

async function two({ leaseMs = 5000 } = {}) {
  const { url } = await sharedRedis()
  const keyPrefix = newKeyPrefix()
  const connections = [connectRedis({ url }), connectRedis({ url })] as const
  await Promise.all(connections.map((redis) => redis.ready()))
  const [handover, elsewhere] = [
    redisHandover(connections[0], { keyPrefix, leaseMs }),
    redisHandover(connections[1], { keyPrefix, leaseMs }),
  ] as const
  return {
    handover,
    elsewhere,
    /** As of a dead process: it renews nothing any more. */
    die: () => connections[0].client.disconnect(),
    /** As after a lease that a frozen process could not renew. */
    expire: async (name: string) => void (await connections[1].client.del(`${keyPrefix}handover:${name}`)),
    close: async () => void (await Promise.all(connections.map((redis) => redis.close()))),
  }
}

handoverContract('on Redis', two)

describe('a handover on Redis', () => {
  it('takes over from a dead process when its lease has expired, and notifies it', async () => {
    const { handover, elsewhere, die, close } = await two({ leaseMs: 1000 })
    let lost = 0
    const tell = () => {
      lost += 1
    }
    await handover.take('a name', { wanted: tell, waitMs: 0, signal })
    die()
    const release = await elsewhere.take('a name', { wanted, waitMs: 5000, signal })
    await eventually(() => expect(lost).to.be.greaterThan(0))
    await release()
    await close()
  })

  it('is lost by a process that was frozen for too long, which is notified', async () => {
    const { handover, elsewhere, expire, close } = await two()
    let lost = 0
    const tell = () => {
      lost += 1
    }
    const late = await handover.take('a name', { wanted: tell, waitMs: 0, signal })
    await expire('a name')
    let wished = 0
    const ask = () => {
      wished += 1
    }
    const release = await elsewhere.take('a name', { wanted: ask, waitMs: 0, signal })
    await eventually(() => expect(lost).to.equal(1))
    await late()
    expect(await rejection(handover.take('a name', { wanted, waitMs: 300, signal }))).to.have.property(
      'status',
      423,
    )
    await eventually(() => expect(wished).to.be.greaterThan(0))
    await release()
    await close()
  })

  it('is lost after its lease, although a renewal still waits for its response', async () => {
    let asked = 0
    const send = async () => {
      asked += 1
      return asked === 1 ? 1 : new Promise(() => {})
    }
    const handover = redisHandover({ send } as unknown as RedisConnection, { keyPrefix: 'a:', leaseMs: 1000 })
    let lost = 0
    const tell = () => {
      lost += 1
    }
    const release = await handover.take('a name', { wanted: tell, waitMs: 0, signal })
    try {
      await eventually(() => expect(lost).to.be.greaterThan(0))
    } finally {
      // Its response does not come either.
      void release()
    }
  })

  it('lasts longer than a lease for a live process', async () => {
    const { handover, elsewhere, close } = await two({ leaseMs: 1000 })
    const release = await handover.take('a name', { wanted, waitMs: 0, signal })
    expect(await rejection(elsewhere.take('a name', { wanted, waitMs: 2500, signal }))).to.have.property(
      'status',
      423,
    )
    await release()
    await close()
  })

  it('is a 503 while Redis is down', async () => {
    const redis = await startRedis({ fails: true })
    const connection = connectRedis({ url: redis.url })
    await connection.ready()
    const handover = redisHandover(connection, { keyPrefix: 'a:' })
    await redis.stop()
    const error = await rejection(handover.take('a name', { wanted, waitMs: 1000, signal }))
    expect(error).to.be.instanceOf(Problem).with.property('status', 503)
    await connection.close()
  })
})

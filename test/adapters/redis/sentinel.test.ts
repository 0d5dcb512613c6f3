import { expect } from 'chai'
import { connectRedis, type RedisConnection } from '../../../src/adapters/redis/connection.ts'
import { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { startWatchedRedis, type WatchedRedis } from '../../support/servers/sentinels.ts'

describe('a connection to a Redis that Sentinels watch', function () {
  this.timeout(120_000)
  let watched: WatchedRedis
  let redis: RedisConnection
  beforeEach(async () => {
    watched = await startWatchedRedis()
    redis = connectRedis({ url: watched.url })
    await redis.ready()
  })
  afterEach(async () => {
    await redis.close()
    await watched.remove()
  })

  const written = (value: string) => redis.send((client) => client.set('key', value))

  it('is to the primary, and to the replica that takes its place when it dies', async () => {
    const first = await watched.primary()
    await written('one')
    await redis.send((client) => client.wait(1, 1000))
    await first.stop()
    const refusals: unknown[] = []
    await eventually(async () => {
      try {
        await written('two')
      } catch (error) {
        refusals.push(error)
        throw error
      }
    })
    for (const error of refusals) expect(error).to.be.instanceOf(Problem).and.include({ status: 503 })
    expect((await watched.primary()).port).not.to.equal(first.port)
    expect(await redis.send((client) => client.get('key'))).to.equal('two')
    // The old primary comes back as a replica, which takes no writes.
    await first.start()
    await written('three')
    expect(await redis.send((client) => client.get('key'))).to.equal('three')
  })

  it('leaves a primary that is frozen, and does not return to it when it thaws', async () => {
    const first = await watched.primary()
    await redis.send((client) => client.wait(1, 1000))
    first.freeze()
    await eventually(() => written('two'))
    first.thaw()
    await eventually(async () => {
      const role = await redis.send((client) => client.role())
      expect(role[0]).to.equal('master')
    })
    await written('three')
    expect((await watched.primary()).port).not.to.equal(first.port)
  })

  it('is opened by another Sentinel when the first ones are gone', async () => {
    const [, sentinels = '', name] = /\/\/(.*)\/(.*)$/.exec(watched.url) ?? []
    const other = connectRedis({ url: `redis+sentinel://127.0.0.1:1,${sentinels}/${name}` })
    try {
      await other.ready()
      expect(await other.send((client) => client.ping())).to.equal('PONG')
    } finally {
      await other.close()
    }
  })
})

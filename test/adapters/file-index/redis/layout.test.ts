import { expect } from 'chai'
import { claimLayout, claimLayouts, removeFormer } from '../../../../src/adapters/file-index/redis/layout.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { newFileId, storedKey } from '../../../../src/core/files/object-key.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, type RedisServer, startRedis } from '../../../support/servers/redis-server.ts'

const { signal } = new AbortController()

describe('redis: the layout of the index', () => {
  let server: RedisServer
  let redis: RedisConnection
  let keyPrefix: string

  before(async () => {
    server = await startRedis()
    redis = connectRedis({ url: server.url })
    await redis.ready()
  })
  beforeEach(async () => {
    await redis.client.config('SET', 'maxmemory', '0')
    await redis.client.flushall()
    keyPrefix = newKeyPrefix()
  })
  after(async () => {
    await redis.close()
    await server.remove()
  })

  const names = async () => (await redis.client.keys('*')).map((name) => name.slice(keyPrefix.length)).sort()
  /** Some keys of version 1.0, and others that have the same names in all versions. */
  async function storeFormer(files: number): Promise<void> {
    const hashes = Array.from({ length: files }, (_, i) => `file:one/image/png/${i}.png`)
    for (const name of [...hashes, 'totals:one/', 'texts:one/', 'derived:one/', 'folders:one/'])
      await redis.client.hset(keyPrefix + name, '', 'stored {}')
    for (const name of ['list:one/stored:key', 'uses:one/', 'unsettled', 'changes', 'terms:one/'])
      await redis.client.zadd(keyPrefix + name, 0, 'member')
    for (const name of ['complete', 'counted', 'searchable', 'compared', 'data', ...OTHERS])
      await redis.client.set(keyPrefix + name, 'text')
  }
  const OTHERS = ['partitions:one/', 'epoch:one/', 'usage:one', 'listing']

  it('is noted, and the keys of version 1.0 are removed, without memory for it', async () => {
    await storeFormer(2500)
    await redis.client.config('SET', 'maxmemory', '1')
    await claimLayout(redis, { keyPrefix })
    expect(await names())
      .to.not.include('complete')
      .and.not.include('data')
    await removeFormer(redis, { keyPrefix, signal })
    expect(await names()).to.deep.equal([...OTHERS, 'layout', 'unsettled'].sort())
    expect(await redis.client.get(`${keyPrefix}layout`)).to.equal('2')
  })

  it('makes steps of version 1.0 fail', async () => {
    await storeFormer(1)
    await claimLayout(redis, { keyPrefix })
    const step = redis.client.zadd(`${keyPrefix}unsettled`, 0, 'one/key')
    expect(await rejection(step))
      .to.have.property('message')
      .that.matches(/^WRONGTYPE/)
  })

  it('leaves the index alone that it already describes', async () => {
    await claimLayout(redis, { keyPrefix })
    const index = redisIndex(redis, { keyPrefix })
    await index.markComplete()
    const run = await index.run()
    await index.removeFormer(signal)
    await claimLayout(redis, { keyPrefix })
    expect([await index.isComplete(), await index.run()]).to.deep.equal([true, run])
  })

  it('continues to remove keys after an interruption', async () => {
    await storeFormer(2500)
    let scans = 0
    const stopped: RedisConnection = {
      ...redis,
      async send(work) {
        scans += 1
        if (scans === 5) throw unavailable('Redis is down')
        return redis.send(work)
      },
    }
    expect(await rejection(removeFormer(stopped, { keyPrefix, signal }))).to.include({ status: 503 })
    expect((await names()).filter((name) => name.startsWith('file:'))).to.not.be.empty
    const aborted = removeFormer(redis, { keyPrefix, signal: AbortSignal.abort(new Error('stopped')) })
    expect(await rejection(aborted)).to.include({ message: 'stopped' })
    await removeFormer(redis, { keyPrefix, signal })
    expect((await names()).filter((name) => name.startsWith('file:'))).to.be.empty
    // Then no more keys are read.
    scans = -9
    await removeFormer(stopped, { keyPrefix, signal })
    expect(scans).to.equal(-7)
  })

  it('of a newer version is refused, also when another partition is unavailable', async () => {
    await redis.client.set(`${keyPrefix}layout`, 3)
    const down: RedisConnection = { ...redis, send: () => Promise.reject(unavailable('Redis is down')) }
    const keyspaces = [down, redis].map((connection) => ({ redis: connection, keyPrefix }))
    const message = /layout 3 of a newer version/
    expect(await rejection(claimLayouts(keyspaces)))
      .to.have.property('message')
      .that.matches(message)
    expect(await rejection(redisIndex(redis, { keyPrefix }).removeFormer(signal)))
      .to.have.property('message')
      .that.matches(message)
    expect(await names()).to.deep.equal(['layout'])
    await claimLayouts(keyspaces.slice(0, 1))
  })

  it('is claimed again after a return to version 1.0, whose index was complete', async () => {
    await claimLayout(redis, { keyPrefix })
    const index = redisIndex(redis, { keyPrefix })
    const key = storedKey(`image/png/${newFileId()}.png`)
    await index.adopt('one', {
      key,
      originalName: 'a',
      mediaType: 'image/png',
      size: 1,
      sha256: '00',
      storedAt: 1,
    })
    await index.markComplete()
    const { data } = await index.run()
    // As upgrade.md describes it.
    await redis.client.del(`${keyPrefix}layout`, `${keyPrefix}unsettled`)
    await storeFormer(1)
    await index.removeFormer(signal)
    expect(await index.isComplete()).to.equal(false)
    expect((await index.run()).data).to.not.equal(data)
  })
})

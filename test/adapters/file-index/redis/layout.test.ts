import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect } from 'chai'
import { checkLayouts, claimLayouts, removeFormer } from '../../../../src/adapters/file-index/redis/layout.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { newFileId, storedKey } from '../../../../src/core/files/object-key.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, type RedisServer, startRedis } from '../../../support/servers/redis-server.ts'

const never = new AbortController().signal

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

  const remove = (connection = redis, signal = never) =>
    removeFormer([{ redis: connection, keyPrefix }], { signal, nodeOf: async () => '' })
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
  const REPLACED = ['unsettled', 'changes', 'data']
  const OTHERS = ['partitions:one/', 'epoch:one/', 'usage:one', 'listing']

  it('is noted, and the keys of version 1.0 are removed, without memory for it', async () => {
    await storeFormer(2500)
    await redis.client.config('SET', 'maxmemory', '1')
    await claimLayouts([{ redis, keyPrefix }])
    expect(await names()).to.not.include('complete')
    await remove()
    expect(await names()).to.deep.equal([...OTHERS, ...REPLACED, 'layout'].sort())
    expect(await redis.client.get(`${keyPrefix}layout`)).to.equal('2')
  })

  it('makes steps of version 1.0 fail', async () => {
    await storeFormer(1)
    await claimLayouts([{ redis, keyPrefix }])
    const key = (name: string) => keyPrefix + name
    for (const step of [
      () => redis.client.zadd(key('unsettled'), 0, 'one/key'),
      () => redis.client.zadd(key('changes'), 0, 'one/key'),
      // The first part of a comparison, and of its end.
      () => redis.client.get(key('data')),
    ])
      expect(await rejection(step()))
        .to.have.property('message')
        .that.matches(/^WRONGTYPE/)
  })

  it('leaves the index alone that it already describes', async () => {
    await claimLayouts([{ redis, keyPrefix }])
    const index = redisIndex(redis, { keyPrefix })
    await index.markComplete()
    const run = await index.run()
    await index.removeFormer(never)
    await claimLayouts([{ redis, keyPrefix }])
    expect([await index.isComplete(), await index.run()]).to.deep.equal([true, run])
  })

  it('is not claimed by a command, which only checks it', async () => {
    await storeFormer(1)
    const before = await names()
    await checkLayouts([{ redis, keyPrefix }])
    expect(await names()).to.deep.equal(before)
  })

  it('leaves the new index alone when all keys were deleted and there is none of version 1.0', async () => {
    const index = redisIndex(redis, { keyPrefix })
    await index.run()
    await index.markComplete()
    await index.removeFormer(never)
    expect(await index.isComplete()).to.equal(true)
  })

  it('removes keys whose names are not valid UTF-8', async () => {
    await storeFormer(1)
    await redis.client.set(Buffer.from(`${keyPrefix}search:one/0:\xc3\xa4\xc3`, 'latin1'), 'posting')
    await remove()
    expect((await names()).filter((name) => name.startsWith('search:'))).to.be.empty
  })

  it('lets one process remove keys at a time', async () => {
    await storeFormer(1)
    const lock = `${keyPrefix}2:removing`
    await redis.client.set(lock, 'another process')
    await remove()
    expect(await names()).to.include('file:one/image/png/0.png')
    await redis.client.del(lock)
    await remove()
    expect(await names()).to.not.include('file:one/image/png/0.png')
    expect(await redis.client.exists(lock)).to.equal(0)
  })

  it('continues to remove keys after an interruption', async () => {
    await storeFormer(2500)
    let scans = 0
    const stopped: RedisConnection = {
      ...redis,
      async send(work) {
        scans += 1
        if (scans === 8) throw unavailable('Redis is down')
        return redis.send(work)
      },
    }
    expect(await rejection(remove(stopped))).to.include({ status: 503 })
    expect((await names()).filter((name) => name.startsWith('file:'))).to.not.be.empty
    const aborted = remove(redis, AbortSignal.abort(new Error('stopped')))
    expect(await rejection(aborted)).to.include({ message: 'stopped' })
    await remove()
    expect((await names()).filter((name) => name.startsWith('file:'))).to.be.empty
    // Then no more keys are read.
    scans = -9
    await remove(stopped)
    expect(scans).to.equal(-7)
  })

  it('of a newer version is refused, also when another partition is unavailable', async () => {
    await redis.client.set(`${keyPrefix}layout`, 3)
    const down: RedisConnection = { ...redis, send: () => Promise.reject(unavailable('Redis is down')) }
    const keyspaces = [down, redis].map((connection) => ({ redis: connection, keyPrefix }))
    const message = /layout 3 of a newer version/
    for (const refuse of [checkLayouts, claimLayouts])
      expect(await rejection(refuse(keyspaces)))
        .to.have.property('message')
        .that.matches(message)
    expect(await rejection(redisIndex(redis, { keyPrefix }).removeFormer(never)))
      .to.have.property('message')
      .that.matches(message)
    expect(await names()).to.deep.equal(['layout'])
    await claimLayouts(keyspaces.slice(0, 1))
  })

  it('is removed by the documented commands, with all that is left of version 1.0, and nothing else', async () => {
    keyPrefix = '{sluice}:'
    await storeFormer(1)
    await redis.client.zadd('{sluice:17:20}:list:one/stored:key', 0, 'key')
    await claimLayouts([{ redis, keyPrefix }])
    const index = redisIndex(redis, { keyPrefix })
    const key = storedKey(`image/png/${newFileId()}.png`)
    const file = { key, originalName: 'a', mediaType: 'image/png', size: 1, sha256: '00', storedAt: 1 }
    await index.adopt('one', file)
    await index.markComplete()
    const text = await readFile('docs/how-to/upgrade.md', 'utf8')
    const [, commands = ''] = /^## Go back$.*?```sh\n(.*?)```/ms.exec(text) ?? []
    await promisify(execFile)('sh', ['-c', commands], { env: { ...process.env, REDIS_URL: server.url } })
    expect(await names()).to.deep.equal([...OTHERS].sort())
  })

  it('is claimed again after a return to version 1.0, whose index was complete', async () => {
    await claimLayouts([{ redis, keyPrefix }])
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
    await redis.client.del(...['layout', ...REPLACED].map((name) => keyPrefix + name))
    await storeFormer(1)
    await index.removeFormer(never)
    expect(await index.isComplete()).to.equal(false)
    expect((await index.run()).data).to.not.equal(data)
  })
})

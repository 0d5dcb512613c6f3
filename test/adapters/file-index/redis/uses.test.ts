import { expect } from 'chai'
import { keyNames } from '../../../../src/adapters/file-index/redis/keys.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { derivativeKey, newFileId, type ObjectKey, storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, type RedisServer, startRedis } from '../../../support/servers/redis-server.ts'

const NOW = 1_800_000_000_000
const LATER = NOW + 60_000
const CLIENT = 'first'

describe('redis: derivatives', () => {
  let server: RedisServer
  let redis: RedisConnection
  let keyPrefix: string
  let index: FileIndex

  before(async () => {
    server = await startRedis({ appendOnly: false })
    redis = connectRedis({ url: server.url })
    await redis.ready()
  })
  beforeEach(() => {
    keyPrefix = newKeyPrefix()
    index = redisIndex(redis, { keyPrefix })
  })
  afterEach(async () => {
    await redis.client.config('SET', 'maxmemory', '0')
  })
  after(async () => {
    await redis.close()
    await server.remove()
  })

  async function adopt(folder: string, { id = newFileId(), tags = [] as string[] } = {}): Promise<FileRef> {
    const key = storedKey(`${folder}/image/jpeg/${id}.jpg`)
    const file = { originalName: 'holiday in the sun.jpg', mediaType: 'image/jpeg', size: 1_234_567 }
    const record = { key, ...file, sha256: 'ab'.repeat(32), crc32: 1, storedAt: NOW }
    await index.adopt(CLIENT, { ...record, ...(tags[0] ? { tags } : {}) }, undefined, 'cd'.repeat(16))
    return { clientId: CLIENT, key }
  }

  async function derive(ref: FileRef, variant: string, at = NOW): Promise<void> {
    const record = { mediaType: 'image/webp', size: 10, crc32: 1 }
    const key = derivativeKey(ref.key, variant)
    await index.finishDerivative(ref, { key, ...record }, { at, isHeld: false })
  }

  it('are stored compactly with their original', async () => {
    const ref = await adopt('photos/2024', { tags: ['sea', 'family', 'summer holiday'] })
    const variants = ['w=300', `~${'0'.repeat(32)}`, 'w=1200&f=webp&q=80']
    for (const variant of variants) await derive(ref, variant)
    const smaller = { key: derivativeKey(ref.key, variants[1] ?? ''), since: NOW }
    const bundle = { mediaType: 'application/vnd.apple.mpegurl', size: 9, crc32: 1, partsBytes: 1e9, smaller }
    await index.finishDerivative(ref, { key: derivativeKey(ref.key, 'hls/master.m3u8'), ...bundle })
    const { hashesOf, usesOf } = keyNames(keyPrefix)
    const names = [hashesOf(ref)[0], `${usesOf(CLIENT)}/`]
    const encodings = names.map((name) => redis.client.object('ENCODING', name))
    expect(await Promise.all(encodings)).to.deep.equal(['listpack', 'listpack'])
  })

  it('belong to one of two originals with the same id', async () => {
    const id = newFileId()
    const [one, other] = [await adopt('a', { id }), await adopt('b', { id })]
    await derive(one, 'w=1', NOW + 2)
    await derive(other, 'w=1', NOW + 1)
    await derive(other, 'w=2', NOW + 3)
    const used = await index.leastUsed({ clientId: CLIENT }, 9)
    expect(used.map(({ original, key }) => [original, key])).to.deep.equal(
      [[other, 'w=1'] as const, [one, 'w=1'] as const, [other, 'w=2'] as const].map(([{ key }, variant]) => [
        key,
        derivativeKey(key, variant),
      ]),
    )
    expect(await index.derivedBytes(other)).to.deep.equal({ client: 30, original: 20 })
  })

  it('have their bytes in a field of the original, for as long as they are stored', async () => {
    const ref = await adopt('a')
    await derive(ref, 'w=1')
    await derive(ref, 'w=2')
    const file = keyNames(keyPrefix).hashesOf(ref)[0]
    expect(await index.derivedBytes(ref)).to.deep.equal({ client: 20, original: 20 })
    expect(await redis.client.hget(file, 'd')).to.equal('20')
    const third = derivativeKey(ref.key, 'w=3')
    expect(await index.beginDerivative(ref, third, LATER, { atMost: 2, uncounted: [] })).to.equal('full')
    expect(await index.beginDerivative(ref, third, LATER, { atMost: 3, uncounted: [] })).to.equal('begun')
    await index.dropDerivative(ref, third, LATER)
    for (const variant of ['w=1', 'w=2'])
      expect(await index.beginEviction(ref, derivativeKey(ref.key, variant), NOW)).to.equal(true)
    expect(await redis.client.hexists(file, 'd')).to.equal(0)
    expect(await index.derivedBytes(ref)).to.deep.equal({ client: 0, original: 0 })
  })

  it('have their whole key wherever they are read, when it has a hash', async () => {
    const ref = await adopt('a')
    const variant = `~${'9f'.repeat(16)}`
    const [key, late] = ['', '&~private'].map((end) => derivativeKey(ref.key, variant + end)) as [
      ObjectKey,
      ObjectKey,
    ]
    await derive(ref, variant)
    await index.beginDerivative(ref, late, NOW)
    const found = await index.find(ref, key)
    const of = [{ clientId: CLIENT }, ref]
    const used = await Promise.all(of.map((one) => index.leastUsed(one, 9)))
    const overdue = []
    for await (const one of index.overdue(NOW)) overdue.push(one.kind === 'derivative' && one.derivative)
    expect({
      found: found.derivative?.state === 'stored' && found.derivative.record.key,
      looked: (await index.look(ref))?.derivatives.map((one) => one.key).sort(),
      used: used.flat().map((one) => one.key),
      overdue,
      trashed: [...((await index.trash(ref, { at: NOW, until: LATER })) ?? [])].sort(),
    }).to.deep.equal({
      ...{ found: key, looked: [key, late], used: [key, key] },
      ...{ overdue: [late], trashed: [key, late] },
    })
  })

  it('that cannot be read fail with their key, and leave the sums and the lists of others as they are', async () => {
    const [ref, other] = [await adopt('a'), await adopt('b')]
    const damaged = derivativeKey(ref.key, 'w=2')
    for (const variant of ['w=1', 'w=2']) await derive(ref, variant)
    await derive(other, 'w=1')
    const file = keyNames(keyPrefix).hashesOf(ref)[0]
    const use = (await redis.client.hgetBuffer(file, '_w=2'))?.subarray(0, 8) as Buffer
    await redis.client.hset(file, '_w=2', use)
    expect(String(await rejection(index.find(ref, damaged)))).to.include(`${damaged}: expected an entry`)
    const used = await index.leastUsed({ clientId: CLIENT }, 9)
    expect(used).to.have.length(2)
    await index.beginRemoval(ref, { cause: 'purge', leaseUntil: LATER, now: NOW })
    for (let i = 0; i < 2; i += 1) await rejection(index.finishRemoval(ref, NOW))
    expect((await index.derivedBytes(other)).client).to.equal(30)
  })

  it('do not prevent the removal of an original that is going in a full Redis', async () => {
    const ref = await adopt('a')
    const late = derivativeKey(ref.key, 'w=1')
    await index.beginDerivative(ref, late, LATER)
    await index.beginRemoval(ref, { cause: 'purge', leaseUntil: NOW, now: NOW })
    await redis.client.config('SET', 'maxmemory', '1')
    const removal = { cause: 'sweep', leaseUntil: LATER, now: NOW } as const
    expect(await index.beginRemoval(ref, removal)).to.deep.equal([late])
    expect(await index.finishRemoval(ref, NOW)).to.equal(true)
  })

  it('can be evicted, and deleted with their originals, in a full Redis', async () => {
    const refs = [await adopt('a'), await adopt('b')]
    const variants = Array.from({ length: 150 }, (_, i) => `w=${i + 1}`)
    for (const ref of refs) await Promise.all(variants.map((variant, i) => derive(ref, variant, NOW + i)))
    await redis.client.config('SET', 'maxmemory', '1')
    for (const { original, key } of await index.leastUsed({ clientId: CLIENT }, 200)) {
      const ref = { clientId: CLIENT, key: original }
      expect(await index.beginEviction(ref, key, NOW)).to.equal(true)
      await index.dropDerivative(ref, key, NOW)
    }
    expect((await index.derivedBytes(refs[0] as FileRef)).client).to.equal(1000)
    for (const ref of refs) {
      await index.beginRemoval(ref, { cause: 'purge', leaseUntil: LATER, now: NOW })
      expect(await index.finishRemoval(ref, NOW)).to.equal(true)
    }
    await index.tidy({ most: 99 })
    expect(await redis.client.keys(`${keyPrefix}*`)).to.deep.equal([])
  })
})

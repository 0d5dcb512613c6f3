import { expect } from 'chai'
import { keyNames } from '../../../../src/adapters/file-index/redis/keys.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { derivativeKey, newFileId, storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
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

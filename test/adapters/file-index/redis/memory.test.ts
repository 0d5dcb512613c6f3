import { createHash } from 'node:crypto'
import { expect } from 'chai'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { derivativeKey, newFileId, newOriginal } from '../../../../src/core/files/object-key.ts'
import { knownFormat } from '../../../../src/core/media/formats.ts'
import type { OriginalRecord } from '../../../../src/core/ports/file-index.ts'
import { type RedisServer, startRedis } from '../../../support/servers/redis-server.ts'

const NOW = 1_800_000_000_000
const FILES = 20_000
const AT_ONCE = 200
// In bytes of Redis, as the page on scaling states them for a million files.
const FILE_MAX = 600
const DERIVATIVE_MAX = 100

describe('redis: the memory of the index', () => {
  let server: RedisServer
  let redis: RedisConnection
  before(async () => {
    server = await startRedis()
    redis = connectRedis({ url: server.url })
    await redis.ready()
  })
  after(async () => {
    await redis.close()
    await server.remove()
  })

  const used = async () => Number(/^used_memory:(\d+)/m.exec(await redis.client.info('memory'))?.[1])

  it(`is at most ${FILE_MAX} bytes per file with all lists and the search, and ${DERIVATIVE_MAX} per derivative`, async () => {
    const index = redisIndex(redis, { keyPrefix: 'one:' })
    const photos = Array.from({ length: FILES }, (_, i) => photo(i))
    /** The bytes that a change of all photos takes, per photo. */
    async function bytesOf(change: (one: OriginalRecord) => Promise<unknown>): Promise<number> {
      const before = await used()
      for (let i = 0; i < FILES; i += AT_ONCE) await Promise.all(photos.slice(i, i + AT_ONCE).map(change))
      while ((await index.tidy({ most: FILES })) > 0);
      return ((await used()) - before) / FILES
    }
    const adopted = await bytesOf((one) => index.adopt('first', one, undefined, one.sha256.slice(32)))
    // Of a broken measurement, too.
    expect(adopted).to.be.within(400, FILE_MAX)
    const derived = await bytesOf(({ key }) => {
      const derivative = { key: derivativeKey(key, 'w=300'), mediaType: 'image/jpeg', size: 20_000, crc32: 1 }
      return index.finishDerivative({ clientId: 'first', key }, derivative)
    })
    expect(derived).to.be.within(50, DERIVATIVE_MAX)
  })
})

/** A photo with a name of 24 characters, in one of 100 folders. */
function photo(i: number): OriginalRecord {
  const { key } = newOriginal({
    folder: `folder-${i % 100}/2026`,
    format: knownFormat('jpeg'),
    id: newFileId(),
  })
  return {
    key,
    originalName: `photo 2026-11-17 ${String(i).padStart(5, '0')}`,
    mediaType: 'image/jpeg',
    size: 100_000 + ((i * 104_729) % 8_000_000),
    sha256: createHash('sha256').update(String(i)).digest('hex'),
    storedAt: NOW + i * 1000,
    crc32: (i * 2_654_435_761) % 2 ** 32,
  }
}

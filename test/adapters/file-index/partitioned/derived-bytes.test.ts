import { expect } from 'chai'
import { derivedBytesOver } from '../../../../src/adapters/file-index/partitioned/derived-bytes.ts'
import { partitionNumber } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { partitionsOf } from '../../../../src/adapters/file-index/partitioned/partitions.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { derivativeKey } from '../../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { adopted, newRef } from '../../../contracts/file-index/file-index-states.ts'
import { newKeyPrefix, sharedRedis } from '../../../support/servers/redis-server.ts'
import { neverMoving } from './moving.ts'

describe('the bytes of derivatives over all partitions', () => {
  let redis: RedisConnection
  before(async () => {
    redis = connectRedis(await sharedRedis())
    await redis.ready()
  })
  after(() => redis.close())

  it('are those of the last second where they may be old, and exact in the partition of the original', async () => {
    let asked = 0
    let now = 5000
    const all = Array.from({ length: PARTITIONS }, () => {
      const index = redisIndex(redis, { keyPrefix: newKeyPrefix() })
      const derivedBytes: FileIndex['derivedBytes'] = (...of) => {
        asked += 1
        return index.derivedBytes(...of)
      }
      return { ...index, derivedBytes }
    })
    const partitions = partitionsOf(all, neverMoving(all, PARTITIONS))
    const derivedBytes = derivedBytesOver(partitions, () => now)
    const one = await withDerivative(partitions, 100)
    // In another partition.
    let other = await withDerivative(partitions, 10)
    while (partitionNumber(other, PARTITIONS) === partitionNumber(one, PARTITIONS))
      other = await withDerivative(partitions, 10)
    const before = await derivedBytes(one)
    expect(before.original).to.equal(100)
    expect(await derivedBytes(one, { mayBeOld: true })).to.deep.equal(before)

    asked = 0
    await addDerivative(partitions, one, 1000)
    await addDerivative(partitions, other, 7)
    expect(await derivedBytes(one, { mayBeOld: true })).to.deep.equal({
      original: 1100,
      client: before.client + 1000,
    })
    expect(asked).to.equal(1)
    const exact = { original: 1100, client: before.client + 1007 }
    expect(await derivedBytes(one)).to.deep.equal(exact)
    now += 1001
    expect(await derivedBytes(one, { mayBeOld: true })).to.deep.equal(exact)
  })
})

type Partitions = ReturnType<typeof partitionsOf>

async function withDerivative(partitions: Partitions, size: number): Promise<FileRef> {
  const ref = newRef('first')
  await partitions.change([ref], (index) => adopted(index, ref))
  await addDerivative(partitions, ref, size)
  return ref
}

async function addDerivative(partitions: Partitions, ref: FileRef, size: number): Promise<void> {
  const derivative = { key: derivativeKey(ref.key, `w_${size}`), mediaType: 'image/png', size }
  await partitions.change([ref], (index) => index.adoptDerivative(ref, derivative))
}

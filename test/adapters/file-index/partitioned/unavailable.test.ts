import { expect } from 'chai'
import { firstPartition } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { partitionedIndex } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { prefixOf } from '../../../../src/adapters/file-index/redis/keys.ts'
import { removeFormer } from '../../../../src/adapters/file-index/redis/layout.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { dataKey } from '../../../../src/adapters/file-index/redis/run.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import type { RedisKeyspace } from '../../../../src/adapters/redis/keyspaces.ts'
import { newFileId, storedKey } from '../../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, sharedRedis } from '../../../support/servers/redis-server.ts'
import { neverMoving } from './moving.ts'

describe('an index of partitions, one of which is unavailable', () => {
  let redis: RedisConnection
  let prefixes: string[]
  /** The partitions that are unavailable. */
  const lost = new Set<number>()
  let index: FileIndex
  before(async () => {
    redis = connectRedis({ url: (await sharedRedis()).url })
    await redis.ready()
  })
  after(() => redis.close())
  beforeEach(() => {
    lost.clear()
    prefixes = Array.from({ length: PARTITIONS }, newKeyPrefix)
    const keyspaces = prefixes.map((keyPrefix, number): RedisKeyspace => {
      const send: RedisConnection['send'] = async (command) => {
        if (lost.has(number)) throw unavailable('It is lost.')
        return redis.send(command)
      }
      return { keyPrefix, redis: { ...redis, send } }
    })
    const all = keyspaces.map(({ redis, keyPrefix }) => redisIndex(redis, { keyPrefix }))
    index = partitionedIndex(all, {
      ...neverMoving(all, 1),
      removeFormer: (signal) => removeFormer(keyspaces, { signal, nodeOf: async () => 'one' }),
    })
  })

  const clients = ['a', 'b', 'c', 'd']
  const refOf = (clientId: string) => ({ clientId, key: storedKey(`image/png/${newFileId()}.png`) })

  it('returns overdue entries and changes of the others', async () => {
    const refs = clients.map(refOf)
    for (const [i, ref] of refs.entries()) {
      await index.beginUpload(ref, 10)
      await index.beginChange({ ref, until: 10 - i })
    }
    lost.add(firstPartition('b'))
    const seen: string[] = []
    const sweep = async () => {
      for await (const { ref } of index.overdue(20)) seen.push(ref.clientId)
    }
    expect(await rejection(sweep())).to.include({ status: 503 })
    expect(seen.sort()).to.deep.equal(['a', 'c', 'd'])
    const changes = await index.overdueChanges(20)
    // The oldest first, of all partitions.
    expect(changes.map(({ ref }) => ref.clientId)).to.deep.equal(['d', 'c', 'a'])
    for (let number = 0; number < PARTITIONS; number += 1) lost.add(number)
    expect(await rejection(index.overdueChanges(20))).to.include({ status: 503 })
  })

  it('removes the index of an older version, and frees memory, in the others', async () => {
    const firstOf = (clientId: string) => prefixes[firstPartition(clientId)]
    for (const clientId of clients) {
      await redis.client.hset(`${firstOf(clientId)}texts:${clientId}/`, refOf(clientId).key, 'a.png')
      const ref = refOf(clientId)
      const file = { originalName: 'a.png', mediaType: 'image/png', size: 1, sha256: '00', storedAt: 1 }
      await index.adopt(clientId, { ...file, key: ref.key })
      await index.beginRemoval(ref, { cause: 'purge', leaseUntil: 2, now: 1 })
      await index.finishRemoval(ref, 1)
    }
    lost.add(firstPartition('b'))
    expect(await rejection(index.removeFormer(new AbortController().signal))).to.include({ status: 503 })
    expect(await rejection(index.tidy({ most: 999 }))).to.include({ status: 503 })
    for (const clientId of clients) {
      const left = await redis.client.keys(`${firstOf(clientId)}*`)
      const isLost = clientId === 'b'
      expect(
        left.some((name) => name.includes('texts:')),
        clientId,
      ).to.equal(isLost)
      expect(
        left.some((name) => name.endsWith('untidy')),
        clientId,
      ).to.equal(isLost)
    }
  })

  it('notes what was compared for each partition whose data is still the same', async () => {
    const { id = '' } = await index.run()
    // Another Redis has taken over this partition, or its data was deleted.
    await redis.send((client) => client.del(dataKey(prefixOf(String(prefixes[firstPartition('b')])))))
    await index.markComplete(id)
    await index.noteCompared(id)
    for (const clientId of clients) {
      const isSame = clientId !== 'b'
      expect(await index.isComplete(clientId), clientId).to.equal(isSame)
      expect((await index.run(refOf(clientId))).isCompared, clientId).to.equal(isSame)
    }
    expect(await index.isComplete()).to.equal(false)
    expect((await index.run()).isCompared).to.equal(false)
  })
})

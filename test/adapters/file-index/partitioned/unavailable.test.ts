import { expect } from 'chai'
import { partitionedIndex } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { firstPartition } from '../../../../src/adapters/file-index/partitioned/partitions.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import { newFileId, storedKey } from '../../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { rejection } from '../../../support/rejection.ts'
import { newKeyPrefix, sharedRedis } from '../../../support/servers/redis-server.ts'

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
    const all = prefixes.map((keyPrefix, number) =>
      redisIndex(
        {
          ...redis,
          send: async (command) => {
            if (lost.has(number)) throw unavailable('It is lost.')
            return redis.send(command)
          },
        },
        { keyPrefix },
      ),
    )
    index = partitionedIndex(all, {
      perClient: async () => 1,
      async *list(clientId) {
        for (const one of all) yield* one.list(clientId)
      },
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

  it('notes what was compared for each partition whose data is still the same', async () => {
    const { id = '' } = await index.run()
    // Another Redis has taken over this partition, or its data was deleted.
    await redis.send((client) => client.del(`${prefixes[firstPartition('b')]}data`))
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

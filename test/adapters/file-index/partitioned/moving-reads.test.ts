import { expect } from 'chai'
import { type Division, partitionNumber } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { partitionedIndex } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { pullFiles } from '../../../../src/adapters/file-index/partitioned/pull.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis, type RedisConnection } from '../../../../src/adapters/redis/connection.ts'
import type { RedisKeyspace } from '../../../../src/adapters/redis/keyspaces.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { derivativeKey } from '../../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { listed } from '../../../contracts/file-index/file-index-model.ts'
import { derived, newRef, record } from '../../../contracts/file-index/file-index-states.ts'
import { newKeyPrefix, sharedRedis } from '../../../support/servers/redis-server.ts'
import { everyNth } from '../../../support/sized.ts'
import { keysOf, neverMoving } from './moving.ts'

const FILES = 40

for (const [from, to] of [
  [1, PARTITIONS],
  [PARTITIONS, 1],
] as const)
  describe(`reads of a client whose files move from ${from} to ${to} partitions`, () => {
    let redis: RedisConnection
    /** While it reads, files move: some after each read of one partition. */
    let index: FileIndex
    let refs: FileRef[]
    /** Moves the next files. */
    let moveSome: () => Promise<void>
    let moved: number
    before(async () => {
      redis = connectRedis(await sharedRedis())
      await redis.ready()
    })
    after(() => redis.close())

    beforeEach(async () => {
      const keyspaces = Array.from({ length: PARTITIONS }, () => ({ redis, keyPrefix: newKeyPrefix() }))
      const keyspaceOf = (ref: FileRef, count: number) =>
        keyspaces[partitionNumber(ref, count)] as RedisKeyspace
      const plain = keyspaces.map((keyspace) => redisIndex(keyspace.redis, keyspace))
      const move: Division = { from, to, epoch: 1 }
      refs = Array.from({ length: FILES }, () => newRef('one'))
      for (const [i, ref] of refs.entries()) {
        const before = plain[partitionNumber(ref, from)] as FileIndex
        await before.adopt('one', { ...record(ref.key, `file ${i % 10}`), size: i, tags: ['red'] })
        await before.adoptDerivative(ref, derived(derivativeKey(ref.key, 'd')))
      }
      const waiting = refs.filter((ref) => keyspaceOf(ref, from) !== keyspaceOf(ref, to))
      moved = 0
      let turn = Promise.resolve()
      moveSome = () => {
        turn = turn.then(async () => {
          for (const ref of waiting.splice(0, 3)) {
            await pullFiles([ref], move, keyspaces)
            moved += 1
          }
        })
        return turn
      }
      const all = plain.map(
        (one) =>
          new Proxy(one, {
            get(target, name: keyof FileIndex) {
              const read = target[name] as (...args: unknown[]) => Promise<unknown>
              return async (...args: unknown[]) => {
                const answer = await read.apply(target, args)
                await moveSome()
                return answer
              }
            },
          }),
      )
      index = partitionedIndex(all, {
        ...neverMoving(all, from),
        division: async () => move,
        currentDivision: async () => move,
      })
    })

    const sorted = () => refs.map(({ key }) => key).sort()

    const lists = (['key', 'storedAt', 'name', 'size'] as const).flatMap((by) =>
      (['up', 'down'] as const).map((direction) => ({ by, direction })),
    )
    // By key up, and by name down.
    for (const { by, direction } of everyNth(5, lists))
      it(`have each file once in the list by ${by} ${direction}`, async () => {
        const found = await listed(index, 'one', { state: 'stored', by, direction, limit: 4 })
        expect(found.map((file) => file.record.key).sort()).to.deep.equal(sorted())
        expect(moved).to.be.above(FILES / 2)
      })

    it('have each file in the list of a folder, in a search, and among those of a request', async () => {
      expect(await index.directKeys('one', { state: 'stored', folder: 'a', limit: 99 })).to.deep.equal(
        sorted(),
      )
      expect([...((await index.search('one', { tag: 'red' }, { most: FILES })) ?? [])].sort()).to.deep.equal(
        sorted(),
      )
      const keys = refs.map(({ key }) => key)
      const picked = await index.pick('one', { state: 'stored', by: 'key', keys })
      expect(picked.map((file) => file.record.key)).to.deep.equal(keys)
      expect(moved).to.be.above(FILES / 2)
    })

    it('have each derivative once among the least used', async () => {
      const used = await index.leastUsed({ clientId: 'one' }, 99)
      expect(used.map(({ original }) => original).sort()).to.deep.equal(sorted())
    })

    it('have no fewer files in totals and in folders than there are', async () => {
      expect((await index.totals('one')).stored.files).to.be.at.least(FILES)
      expect((await index.folderCount('one', 'stored', 'a')).files).to.be.at.least(FILES)
      const { folders } = await index.subfolders('one', { parent: '', limit: 5 })
      expect(folders.map(({ folder }) => folder)).to.deep.equal(['a'])
      expect(folders[0]?.files).to.be.at.least(FILES)
    })

    it('have the files themselves', async () => {
      for (const ref of refs) {
        expect((await index.find(ref)).original?.state).to.equal('stored')
        expect((await index.look(ref))?.derivatives).to.have.length(1)
        expect((await index.derivedBytes(ref)).original).to.equal(7)
        expect(await index.isSearchable('one', { ...record(ref.key, 'other'), tags: ['red'] })).to.equal(
          false,
        )
      }
      for (let before = -1; moved > before; await moveSome()) before = moved
      // All of them are in other partitions now.
      expect(await keysOf(index, 'one')).to.deep.equal(sorted())
      expect((await index.totals('one')).stored.files).to.equal(FILES)
    })
  })

import { expect } from 'chai'
import { fenceOf, StaleDivision } from '../../../../src/adapters/file-index/fence.ts'
import { firstPartition, partitionNumber } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { divisionKey } from '../../../../src/adapters/file-index/partitioned/divisions.ts'
import { clusterIndex } from '../../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { keyNames } from '../../../../src/adapters/file-index/redis/keys.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import type { RedisKeyspace } from '../../../../src/adapters/redis/keyspaces.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import type { MoveOptions } from '../../../../src/core/ports/index/partitioning.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { AHEAD, adopted, NOW, newRef } from '../../../contracts/file-index/file-index-states.ts'
import { seededRandom } from '../../../contracts/random.ts'
import { rejection } from '../../../support/rejection.ts'
import { everyNth, sized } from '../../../support/sized.ts'
import { bringBack, contentOf, keysOf, moveOptions, movingIndexes, TIMES } from './moving.ts'

describe('a process that knows an old division of a client', () => {
  const opened = movingIndexes()

  /** Files that have other partitions after a move. */
  function movingRefs(count: number): FileRef[] {
    const refs: FileRef[] = []
    while (refs.length < count) {
      const ref = newRef('one')
      if (partitionNumber(ref, 1) !== partitionNumber(ref, 64)) refs.push(ref)
    }
    return refs
  }

  /** A process that cannot reach the node with the division. */
  function withoutHome(keyspaces: readonly RedisKeyspace[], isDown: () => boolean) {
    const home = keyspaces[firstPartition('one')]
    const reached = keyspaces.map((one): RedisKeyspace => {
      if (one !== home) return one
      const { redis } = one
      return {
        ...one,
        redis: {
          ...redis,
          async send(command) {
            if (isDown()) throw unavailable('It is down.')
            return redis.send(command)
          },
        },
      }
    })
    return clusterIndex(reached, { perClient: 1, times: TIMES })
  }

  for (const [from, to] of [
    [1, 64],
    [64, 1],
  ] as const)
    it(`changes, finds and lists files where they are, during and after a move from ${from} to ${to}`, async () => {
      const { process, begin, move } = opened()
      const { index } = process()
      await index.totals('one')
      if (from === 64) await move('one', 64)
      const refs = movingRefs(3)
      const [trashed, deleted, found] = refs as [FileRef, FileRef, FileRef]
      for (const ref of refs) await adopted(index, ref)
      const [old, later] = [process().index, process().index]
      // For the next second, they trust this division.
      await Promise.all([old.totals('one'), later.totals('one')])

      await begin('one', to)
      const current = process().index
      expect(await current.trash(trashed, { at: NOW, until: AHEAD })).to.deep.equal([])
      expect(await old.restore(trashed, NOW)).to.equal(true)
      expect((await current.find(trashed)).original?.state).to.equal('stored')
      await move('one', to)
      expect((await later.find(found)).original?.state).to.equal('stored')
      expect((await later.look(deleted))?.original.state).to.equal('stored')
      const [left, kept] = [process().index, process().index]
      expect(await keysOf(left, 'one')).to.deep.equal(refs.map(({ key }) => key).sort())
      await kept.totals('one')
      await move('one', from)
      expect(await keysOf(left, 'one')).to.deep.equal(refs.map(({ key }) => key).sort())
      expect((await left.totals('one')).stored.files).to.equal(3)
      await kept.beginRemoval(deleted, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
      expect(await kept.finishRemoval(deleted, NOW)).to.equal(true)
      expect(await process().index.look(deleted)).to.equal(undefined)
    })

  it('finds out that a file does not exist while the node of the division is down', async () => {
    const { process, move, keyspaces } = opened()
    await process().index.totals('one')
    await move('one', 64)
    let isDown = false
    const { index } = withoutHome(keyspaces, () => isDown)
    await index.totals('one')
    isDown = true
    const [ref] = movingRefs(1) as [FileRef]
    expect(await index.find(ref)).to.deep.equal({})
    expect(await index.look(ref)).to.equal(undefined)
  })

  it('cannot change a file in its old partition, however late its command is executed', async () => {
    const { process, begin, keyspaces } = opened()
    const [ref] = movingRefs(1) as [FileRef]
    await adopted(process().index, ref)
    const home = keyspaces[firstPartition('one')] as RedisKeyspace
    const old = redisIndex(home.redis, { keyPrefix: home.keyPrefix, epoch: 0 })
    await begin('one', 64)
    expect(await rejection(old.trash(ref, { at: NOW, until: AHEAD }))).to.be.instanceOf(StaleDivision)
    expect((await process().index.find(ref)).original?.state).to.equal('stored')
  })

  it('raises the fences of all partitions before the first file moves', async () => {
    const { process, keyspaces } = opened()
    for (const ref of movingRefs(3)) await adopted(process().index, ref)
    const fences: Array<string | null> = []
    const progress: MoveOptions['progress'] = async () => {
      for (const { redis, keyPrefix } of keyspaces)
        fences.push(await redis.send((client) => client.get(fenceOf(keyPrefix, 'one'))))
    }
    await process().partitioning.move('one', 64, moveOptions({ progress }))
    expect(fences.length).to.be.at.least(64)
    expect(new Set(fences)).to.deep.equal(new Set(['1']))
  })

  for (const lost of ['begin', 'end'] as const)
    it(`continues to work when the node of the division has lost the ${lost} of a move`, async () => {
      const { process, begin, move, divisions, keyspaces } = opened()
      const refs = movingRefs(2)
      const [first, second] = refs as [FileRef, FileRef]
      await adopted(process().index, first)
      await move('one', 64)
      const before = await divisions.read('one')
      await begin('one', 1)
      if (lost === 'begin') await adopted(process().index, second)
      else {
        await move('one', 1)
        await adopted(process().index, second)
      }
      // The other nodes have the fence of what this node has lost.
      const { redis, keyPrefix } = keyspaces[firstPartition('one')] as RedisKeyspace
      const text = lost === 'begin' ? `64@${before.epoch}` : `64>1@${before.epoch + 1}`
      await redis.send((client) => client.set(divisionKey(keyPrefix, 'one'), text))
      for (const { redis, keyPrefix } of keyspaces) {
        if (keyPrefix === keyspaces[firstPartition('one')]?.keyPrefix) continue
        await redis.send((client) => client.set(`${keyPrefix}epoch:one/`, before.epoch + 3))
      }
      const { index } = process()
      const third = movingRefs(1)[0] as FileRef
      await adopted(index, third)
      expect((await index.find(third)).original?.state).to.equal('stored')
      const { from, to, epoch } = await divisions.read('one')
      expect(epoch).to.be.at.least(before.epoch + 3)
      expect(epoch % 2).to.equal(from === to ? 0 : 1)
      await move('one', 1)
      expect(await keysOf(process().index, 'one')).to.include(third.key)
      expect(await divisions.read('one')).to.include({ from: 1, to: 1 })
    })

  it('reads the new copy of a file whose old one a node has brought back', async () => {
    const { process, begin, keyspaces, divisions } = opened()
    const [ref] = movingRefs(1) as [FileRef]
    await adopted(process().index, ref)
    const home = keyspaces[firstPartition('one')] as RedisKeyspace
    const [hash] = keyNames(home.keyPrefix).hashesOf(ref)
    const old = await home.redis.send((client) => client.hgetallBuffer(hash))
    await begin('one', 64)
    const { index } = process()
    await index.trash(ref, { at: NOW, until: AHEAD })
    await home.redis.send((client) => client.hset(hash, old))
    expect((await index.find(ref)).original?.state).to.equal('trashed')
    expect((await index.look(ref))?.original.state).to.equal('trashed')
    expect((await divisions.read('one')).epoch).to.equal(1)
  })

  it('finds a file that moves between its reads of the new and the old partition', async () => {
    const { process, begin, keyspaces } = opened()
    const [ref] = movingRefs(1) as [FileRef]
    await adopted(process().index, ref)
    await begin('one', 64)
    const mover = process().index
    let isArmed = false
    const home = keyspaces[firstPartition('one')]
    const slow = keyspaces.map(({ redis, keyPrefix }) => ({
      keyPrefix,
      redis: {
        ...redis,
        async send<T>(command: (client: typeof redis.client) => Promise<T>): Promise<T> {
          if (isArmed && keyPrefix === home?.keyPrefix) {
            isArmed = false
            expect(await mover.trash(ref, { at: NOW, until: AHEAD })).to.deep.equal([])
          }
          return redis.send(command)
        },
      },
    }))
    const { index } = clusterIndex(slow, { perClient: 1, times: TIMES })
    await index.totals('one')
    // This process trusts its division, so its next command to this partition reads the file.
    isArmed = true
    expect((await index.find(ref)).original?.state).to.equal('trashed')
    expect(isArmed).to.equal(false)
  })

  it('removes what a node has brought back to a partition without the file, instead of a sweep of it', async () => {
    const { process, move, keyspaces } = opened()
    const [ref] = movingRefs(1) as [FileRef]
    await process().index.beginUpload(ref, NOW)
    const home = keyspaces[firstPartition('one')] as RedisKeyspace
    await move('one', 64)
    await bringBack(home, ref, NOW)
    const seen = []
    for await (const item of process().index.overdue(NOW)) seen.push(item.ref.key)
    expect(seen).to.deep.equal([ref.key])
    expect(await contentOf(home)).to.deep.equal({})
    expect((await process().index.look(ref))?.original.state).to.equal('pending')
  })

  it('removes it also when the node of the division has lost the last moves', async () => {
    const { process, move, keyspaces, divisions } = opened()
    const [ref] = movingRefs(1) as [FileRef]
    await adopted(process().index, ref)
    await move('one', 64)
    const home = keyspaces[firstPartition('one')] as RedisKeyspace
    const other = keyspaces.find(
      (one, number) => one !== home && number !== partitionNumber(ref, 64),
    ) as RedisKeyspace
    await home.redis.send((client) =>
      Promise.all([
        client.set(divisionKey(home.keyPrefix, 'one'), '64'),
        client.del(fenceOf(home.keyPrefix, 'one')),
      ]),
    )
    await bringBack(other, ref, NOW)
    const { index } = process()
    const sweep = async () => {
      for await (const item of index.overdue(NOW)) throw new Error(`unexpected work: ${item.ref.key}`)
    }
    await sweep()
    expect((await divisions.read('one')).epoch).to.equal(2)
    await sweep()
    expect(await contentOf(other)).to.deep.equal({})
  })

  it('sweeps the other files of a partition while the node of the division is down', async () => {
    const { keyspaces } = opened()
    const number = (firstPartition('one') + 1) % 64
    let other = 0
    while (firstPartition(`other${other}`) !== number) other += 1
    const refs = [newRef('one'), newRef(`other${other}`)]
    for (const [i, ref] of refs.entries()) await bringBack(keyspaces[number] as RedisKeyspace, ref, i)
    const { index } = withoutHome(keyspaces, () => true)
    const seen: string[] = []
    const sweep = async () => {
      for await (const { ref } of index.overdue(NOW)) seen.push(ref.key)
    }
    expect(await rejection(sweep())).to.include({ status: 503 })
    expect(seen).to.deep.equal(refs.map(({ key }) => key))
  })

  it('is the number of the last move when the node of the division has lost all data', async () => {
    const { process, move, keyspaces, divisions } = opened()
    const refs = movingRefs(3)
    for (const ref of refs) await adopted(process().index, ref)
    await move('one', 64)
    const { redis, keyPrefix } = keyspaces[firstPartition('one')] as RedisKeyspace
    await redis.send((client) => client.del(divisionKey(keyPrefix, 'one'), fenceOf(keyPrefix, 'one')))
    expect(await process().partitioning.of('one')).to.deep.equal({ partitions: 64 })
    expect(await keysOf(process().index, 'one')).to.deep.equal(refs.map(({ key }) => key).sort())
    expect(await divisions.read('one')).to.deep.equal({ from: 64, to: 64, epoch: 2 })
  })

  for (const to of everyNth(2, [64, 1] as const))
    it(`completes a move to ${to} though each command fails now and then`, async () => {
      const { process, keyspaces, divisions, move } = opened()
      const refs = movingRefs(sized(15, 40))
      await process().index.totals('one')
      if (to === 1) await move('one', 64)
      for (const ref of refs) await adopted(process().index, ref)
      const random = seededRandom(5)
      let failures = 0
      const failing = keyspaces.map(({ redis, keyPrefix }) => ({
        keyPrefix,
        redis: {
          ...redis,
          async send<T>(command: (client: typeof redis.client) => Promise<T>): Promise<T> {
            const isExecuted = random.below(2) === 0
            if (random.below(150) > 0) return redis.send(command)
            failures += 1
            if (isExecuted) await redis.send(command)
            throw unavailable('It does not respond.')
          },
        },
      }))
      const { partitioning } = clusterIndex(failing, { perClient: 1, times: TIMES })
      await partitioning.move('one', to, moveOptions())
      expect(failures).to.be.above(0)
      expect(await divisions.read('one')).to.include({ from: to, to })
      expect(await keysOf(process().index, 'one')).to.deep.equal(refs.map(({ key }) => key).sort())
    })

  it('waits for a node from its failure on, however long the move has made no progress', async () => {
    const { keyspaces, divisions } = opened()
    let sent = 0
    const failing = keyspaces.map(
      (one): RedisKeyspace => ({
        ...one,
        redis: {
          ...one.redis,
          async send(command) {
            sent += 1
            if (sent === 10) throw unavailable('It does not respond.')
            return one.redis.send(command)
          },
        },
      }),
    )
    // With no time at all, each failure is an end of the move, except for one after a success.
    const { partitioning } = clusterIndex(failing, { perClient: 1, times: { ...TIMES, patienceMs: 0 } })
    await partitioning.move('one', 64, moveOptions())
    expect(await divisions.read('one')).to.include({ from: 64, to: 64 })
  })

  it('ends a move only when it may', async () => {
    const { process, divisions } = opened()
    await adopted(process().index, movingRefs(1)[0] as FileRef)
    const seen: number[] = []
    const mayEnd = async () => {
      seen.push((await divisions.read('one')).epoch)
      return seen.length > 1
    }
    await process().partitioning.move('one', 64, moveOptions({ mayEnd }))
    // After the wait, all files are read once more.
    expect(seen).to.deep.equal([1, 1, 1])
    expect((await divisions.read('one')).epoch).to.equal(2)
  })
})

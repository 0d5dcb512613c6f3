import { expect } from 'chai'
import { fenceOf, raiseFence } from '../../../../src/adapters/file-index/fence.ts'
import { firstPartition, partitionNumber } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { divisionKey } from '../../../../src/adapters/file-index/partitioned/divisions.ts'
import { pullFiles } from '../../../../src/adapters/file-index/partitioned/pull.ts'
import type { RedisKeyspace } from '../../../../src/adapters/redis/keyspaces.ts'
import { replyIn } from '../../../../src/adapters/redis/refusals.ts'
import { AHEAD, adopted, NOW, newRef } from '../../../contracts/file-index/file-index-states.ts'
import { rejection } from '../../../support/rejection.ts'
import { movingIndexes } from './moving.ts'

describe('a client whose files move in a full Redis', () => {
  const opened = movingIndexes()

  async function setFull(isFull: boolean): Promise<void> {
    const { cluster } = opened()
    for (const node of cluster.nodes) await cluster.ask(node, 'CONFIG', 'SET', 'maxmemory', isFull ? 1 : 0)
  }
  afterEach(() => setFull(false))

  function movingRef() {
    for (;;) {
      const ref = newRef('one')
      if (partitionNumber(ref, 1) !== partitionNumber(ref, 64)) return ref
    }
  }

  it('can delete a file that has not moved', async () => {
    const { process, begin, keyspaces } = opened()
    const { index } = process()
    const ref = movingRef()
    await adopted(index, ref)
    const { epoch } = await begin('one', 64)
    // As the command does it before files move. Otherwise the raise would be the first write of a step.
    for (const { redis, keyPrefix } of keyspaces)
      await raiseFence(redis, { keys: [], fence: fenceOf(keyPrefix, 'one'), epoch }, [])
    await setFull(true)
    expect(await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })).to.deep.equal([])
    expect(await index.finishRemoval(ref, NOW)).to.equal(true)
    expect(await index.look(ref)).to.equal(undefined)
  })

  it('does not move by the command, and is unchanged', async () => {
    const { process, begin, keyspaces } = opened()
    const ref = movingRef()
    await adopted(process().index, ref)
    const move = await begin('one', 64)
    for (const { redis, keyPrefix } of keyspaces)
      await raiseFence(redis, { keys: [], fence: fenceOf(keyPrefix, 'one'), epoch: move.epoch }, [])
    await setFull(true)
    expect(replyIn(await rejection(pullFiles([ref], move, keyspaces)))?.message).to.include('OOM')
    expect((await process().index.look(ref))?.original?.state).to.equal('stored')
    await setFull(false)
    expect(await pullFiles([ref], move, keyspaces)).to.equal(1)
  })

  it('can delete a file when the node of the division has lost the last moves', async () => {
    const { process, move, keyspaces, divisions } = opened()
    const ref = movingRef()
    await adopted(process().index, ref)
    await move('one', 64)
    const { redis, keyPrefix } = keyspaces[firstPartition('one')] as RedisKeyspace
    await redis.send((client) => client.set(divisionKey(keyPrefix, 'one'), '64'))
    await setFull(true)
    const { index } = process()
    expect(await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })).to.deep.equal([])
    expect((await divisions.read('one')).epoch).to.equal(2)
  })
})

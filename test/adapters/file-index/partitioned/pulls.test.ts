import { expect } from 'chai'
import { StaleDivision } from '../../../../src/adapters/file-index/fence.ts'
import { partitionNumber } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { pullFiles } from '../../../../src/adapters/file-index/partitioned/pull.ts'
import { keyNames } from '../../../../src/adapters/file-index/redis/keys.ts'
import type { RedisKeyspace } from '../../../../src/adapters/redis/keyspaces.ts'
import { deferred } from '../../../../src/core/async/deferred.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import { derivativeKey, storedKey } from '../../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import type { MoveOptions } from '../../../../src/core/ports/index/partitioning.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { listOf } from '../../../contracts/file-index/file-index-model.ts'
import {
  AHEAD,
  adopted,
  d,
  derived,
  NOW,
  newRef,
  record,
} from '../../../contracts/file-index/file-index-states.ts'
import { rejection } from '../../../support/rejection.ts'
import { itLong } from '../../../support/sized.ts'
import { contentOf, keysOf, moveOptions, movingIndexes } from './moving.ts'

describe('a file that moves to another partition', () => {
  const opened = movingIndexes()

  /** A file of a client with a move, where it is before and after it, and further files that are in the same partitions. */
  async function moving({ others = 0, name = 'a' } = {}) {
    const { process, keyspaces, begin } = opened()
    const { index } = process()
    let ref = newRef('one')
    while (partitionNumber(ref, 1) === partitionNumber(ref, 64)) ref = newRef('one')
    await adopted(index, ref)
    const neighbours: FileRef[] = []
    while (neighbours.length < others) {
      const other = newRef('one')
      if (partitionNumber(other, 64) !== partitionNumber(ref, 64)) continue
      await index.adopt('one', record(other.key, name))
      neighbours.push(other)
    }
    await index.finishDerivative(ref, derived(derivativeKey(ref.key, 'used')), { at: NOW, isHeld: true })
    await index.beginDerivative(ref, d(ref), AHEAD)
    const before = await lookAt(index, ref)
    const [from, to] = [1, 64].map((count) => keyspaces[partitionNumber(ref, count)]) as [
      RedisKeyspace,
      RedisKeyspace,
    ]
    const move = await begin('one', 64)
    /** Moves files on other connections. */
    const pull = (moved: FileRef | FileRef[], on: { from: RedisKeyspace; to: RedisKeyspace }) =>
      pullFiles(
        [moved].flat(),
        move,
        keyspaces.map((one) => (one === from ? on.from : one === to ? on.to : one)),
      )
    return { ref, neighbours, from, to, pull, before, index: process().index, other: process().index }
  }

  /** The file, with its derivatives sorted. */
  async function lookAt(index: FileIndex, ref: FileRef) {
    const file = await index.look(ref)
    const derivatives = [...(file?.derivatives ?? [])].sort((one, other) => (one.key < other.key ? -1 : 1))
    return { ...file, derivatives }
  }

  it('moves also when a text of its entry is damaged', async () => {
    const { ref, from, to, pull } = await moving()
    const [hash = ''] = keyNames(from.keyPrefix).hashesOf(ref)
    const pieces = (await from.redis.send((client) => client.hmgetBuffer(hash, '', '1', '2'))) as Buffer[]
    const last = pieces.findLastIndex((piece) => piece?.length > 0)
    const damaged = pieces[last]?.subarray(0, -1) ?? ''
    await from.redis.send((client) => client.hset(hash, last === 0 ? '' : String(last), damaged))
    expect(await pull(ref, { from, to })).to.equal(1)
  })

  it('changes nothing in its new partition when another one of its group cannot be read', async () => {
    const { ref, neighbours, from, to, pull } = await moving({ others: 1 })
    const hashIn = ({ keyPrefix }: RedisKeyspace, of: FileRef) => keyNames(keyPrefix).hashesOf(of)[0]
    const [later] = neighbours as [FileRef]
    await from.redis.send((client) => client.hset(hashIn(from, later), { '': 's', 1: '', 2: '' }))
    // What is left of the first one there.
    const fields = await from.redis.send((client) => client.hgetallBuffer(hashIn(from, ref)))
    const [name = '', value = ''] = Object.entries(fields).find(([field]) => field.startsWith('_')) ?? []
    await to.redis.send((client) => client.hset(hashIn(to, ref), name, value))
    const seen = [await contentOf(from), await contentOf(to)]
    expect(await rejection(pull([ref, later], { from, to }))).to.be.instanceOf(Error)
    expect([await contentOf(from), await contentOf(to)]).to.deep.equal(seen)
  })

  it('is added and dropped by several scripts together with files of long names, which take long', async () => {
    const { ref, neighbours, from, to, pull, index } = await moving({ others: 29, name: 'n'.repeat(255) })
    const sent = { from: 0, to: 0 }
    const counted = (name: keyof typeof sent, { redis, keyPrefix }: RedisKeyspace): RedisKeyspace => ({
      keyPrefix,
      redis: {
        ...redis,
        send(command) {
          sent[name] += 1
          return redis.send(command)
        },
      },
    })
    const on = { from: counted('from', from), to: counted('to', to) }
    expect(await pull([ref, ...neighbours], on)).to.equal(30)
    expect(sent).to.deep.equal({ from: 1 + 2, to: 2 })
    expect(await contentOf(from)).to.deep.equal({})
    expect(await keysOf(index, 'one')).to.have.length(30)
  })

  for (const when of ['before', 'after'] as const)
    for (const [step, name] of ['it was read', 'it was added', 'it was dropped'].entries()) {
      const title = `is complete though a process died ${when} ${name}, for reads and for the next change`
      // After a step, all is as before the next one.
      const itTried = when === 'after' && step < 2 ? itLong : it
      itTried(title, async () => {
        const { ref, from, to, pull, before, index } = await moving()
        let sent = 0
        const dying = (keyspace: RedisKeyspace): RedisKeyspace => ({
          ...keyspace,
          redis: {
            ...keyspace.redis,
            async send(command) {
              sent += 1
              if (sent - 1 < step) return keyspace.redis.send(command)
              if (when === 'after') await keyspace.redis.send(command)
              throw unavailable('The process has died.')
            },
          },
        })
        const dead = pull(ref, { from: dying(from), to: dying(to) })
        expect(await rejection(dead)).to.include({ status: 503 })
        expect(sent).to.equal(step + 1)
        expect(await lookAt(index, ref)).to.deep.equal(before)
        expect(await keysOf(index, 'one')).to.deep.equal([ref.key])
        expect(Object.keys(await listOf(index, 'one'))).to.have.length(1)
        const [held] = await index.leastUsed({ clientId: 'one' }, 5)
        expect(held).to.deep.include({ key: derivativeKey(ref.key, 'used'), use: { at: NOW, isHeld: true } })
        // The next change moves it.
        expect(await index.finishDerivative(ref, derived(d(ref)))).to.equal(true)
        expect(await contentOf(from)).to.deep.equal({})
        const uses = await index.leastUsed({ clientId: 'one' }, 5)
        expect(uses.map(({ key }) => key)).to.deep.equal([d(ref), derivativeKey(ref.key, 'used')])
        expect(await index.derivedBytes(ref)).to.deep.equal({ client: 14, original: 14 })
      })
    }

  /** A process that has read a file, and that continues later. */
  function slow(keyspace: RedisKeyspace) {
    const [reached, go] = [deferred<void>(), deferred<void>()]
    const held: RedisKeyspace = {
      ...keyspace,
      redis: {
        ...keyspace.redis,
        async send(command) {
          reached.resolve()
          await go.promise
          return keyspace.redis.send(command)
        },
      },
    }
    return { held, reached: reached.promise, go: go.resolve }
  }

  it('is not brought back by a slow process that has an old copy of it, after it was deleted', async () => {
    const { ref, from, to, pull, index, other } = await moving()
    const { held, reached, go } = slow(to)
    const pulled = pull(ref, { from, to: held })
    await reached
    await index.dropDerivative(ref, d(ref), AHEAD)
    await index.beginRemoval(ref, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
    expect(await index.finishRemoval(ref, NOW)).to.equal(true)
    go()
    await pulled
    expect(await other.look(ref)).to.equal(undefined)
    for (const keyspace of [from, to]) expect(await contentOf(keyspace)).to.deep.equal({})
  })

  it('moves though another one of its group was deleted after it was read', async () => {
    const { ref, neighbours, from, to, pull, index, other } = await moving({ others: 2 })
    const [deleted, last] = neighbours as [FileRef, FileRef]
    const { held, reached, go } = slow(to)
    const pulled = pull([ref, deleted, last], { from, to: held })
    await reached
    await index.beginRemoval(deleted, { cause: 'delete', leaseUntil: AHEAD, now: NOW })
    expect(await index.finishRemoval(deleted, NOW)).to.equal(true)
    go()
    await pulled
    expect(await contentOf(from)).to.deep.equal({})
    expect(await keysOf(other, 'one')).to.deep.equal([ref.key, last.key].sort())
    expect(await other.look(deleted)).to.equal(undefined)
  })

  it('is not set back by a slow process that has an old copy of it, after it was changed', async () => {
    const { ref, from, to, pull, index, other } = await moving()
    const { held, reached, go } = slow(to)
    const pulled = pull(ref, { from, to: held })
    await reached
    await index.trash(ref, { at: NOW, until: AHEAD })
    const after = await lookAt(index, ref)
    go()
    await pulled
    expect(await lookAt(other, ref)).to.deep.equal(after)
  })

  it('is not lost by a slow process that removes the old copy, after it was changed', async () => {
    const { ref, from, to, pull, index, other } = await moving()
    const read = slow(from)
    let sent = 0
    // The first command of this partition reads the file, the second one drops it.
    const late: RedisKeyspace = {
      ...from,
      redis: {
        ...from.redis,
        send: (command) => (sent++ === 0 ? from.redis.send(command) : read.held.redis.send(command)),
      },
    }
    const pulled = pull(ref, { from: late, to })
    await read.reached
    await index.trash(ref, { at: NOW, until: AHEAD })
    const after = await lookAt(index, ref)
    read.go()
    await pulled
    expect(await lookAt(other, ref)).to.deep.equal(after)
  })

  /** Moves a client from one number to another, while a process stops in a pull before its command of this number, from 0. */
  async function frozen({ from, to, before }: { from: 1 | 64; to: 1 | 64; before: number }) {
    const { process, keyspaces, begin, move, divisions } = opened()
    await process().index.totals('one')
    if (from !== 1) await move('one', from)
    let ref = newRef('one')
    while (partitionNumber(ref, 1) === partitionNumber(ref, 64)) ref = newRef('one')
    await adopted(process().index, ref)
    const division = await begin('one', to)
    const [reached, go] = [deferred<void>(), deferred<void>()]
    let sent = 0
    const stopping = keyspaces.map(({ redis, keyPrefix }) => ({
      keyPrefix,
      redis: {
        ...redis,
        async send<T>(command: (client: typeof redis.client) => Promise<T>): Promise<T> {
          if (sent++ === before) {
            reached.resolve()
            await go.promise
          }
          return redis.send(command)
        },
      },
    }))
    const pulled = pullFiles([ref], division, stopping)
    await reached.promise
    return {
      ref,
      process,
      move,
      epoch: async () => (await divisions.read('one')).epoch,
      async resume() {
        go.resolve()
        return rejection(pulled)
      },
    }
  }

  for (const [from, to] of [
    [1, 64],
    [64, 1],
  ] as const)
    for (const [before, step] of ['reads', 'adds', 'drops'].entries()) {
      const itTried = from === 64 && step !== 'adds' ? itLong : it
      itTried(`is untouched by a process that ${step} it by an old move from ${from} to ${to}`, async () => {
        const { ref, process, move, resume, epoch } = await frozen({ from, to, before })
        // The file is where the frozen process expects it.
        await move('one', to)
        await move('one', from)
        const seen = await lookAt(process().index, ref)
        expect(seen.original?.state).to.equal('stored')
        expect(await resume())
          .to.be.instanceOf(StaleDivision)
          .with.property('epoch', await epoch())
        expect(await lookAt(process().index, ref)).to.deep.equal(seen)
        expect(Object.keys(await listOf(process().index, 'one'))).to.have.length(1)
      })
    }

  it('is not brought back by a process that adds it when its move has ended and the file is deleted', async () => {
    const { ref, process, move, resume } = await frozen({ from: 1, to: 64, before: 1 })
    await move('one', 64)
    const { index } = process()
    await index.beginRemoval(ref, { cause: 'purge', leaseUntil: AHEAD, now: NOW })
    expect(await index.finishRemoval(ref, NOW)).to.equal(true)
    expect(await resume()).to.be.instanceOf(StaleDivision)
    expect(await index.look(ref)).to.equal(undefined)
    expect(await keysOf(index, 'one')).to.deep.equal([])
  })

  it('is only removed when it has lost its original, and its derivatives are left', async () => {
    const { ref, from, index } = await moving()
    const [hash] = keyNames(from.keyPrefix).hashesOf(ref)
    await from.redis.send((client) => client.hdel(hash, ''))
    let reported = 0
    const progress: MoveOptions['progress'] = async ({ files }) => {
      reported = files
    }
    await opened().process().partitioning.move('one', 64, moveOptions({ progress }))
    expect(reported).to.equal(0)
    expect(await from.redis.send((client) => client.exists(hash))).to.equal(0)
    expect((await index.derivedBytes(ref)).client).to.equal(0)
  })

  it('moves together with another one of the same id, also when it is named twice', async () => {
    const { process, keyspaces, begin } = opened()
    const { index } = process()
    let ref = newRef('one')
    while (partitionNumber(ref, 1) === partitionNumber(ref, 64)) ref = newRef('one')
    const [other, last] = ['other', 'last'].map((folder) => {
      return { clientId: 'one', key: storedKey(`${folder}/${ref.key}`) }
    }) as [FileRef, FileRef]
    const [from, to] = [1, 64].map((count) => keyspaces[partitionNumber(ref, count)]) as [
      RedisKeyspace,
      RedisKeyspace,
    ]
    const contents = []
    for (const one of [other, ref, last]) {
      await adopted(index, one)
      await index.finishDerivative(one, derived(d(one)), { at: NOW, isHeld: false })
      contents.push(await contentOf(from))
    }
    const move = await begin('one', 64)
    await pullFiles([ref, last, ref], move, keyspaces)
    expect(await contentOf(from)).to.deep.equal(contents[0])
    await pullFiles([other], move, keyspaces)
    expect(await contentOf(from)).to.deep.equal({})
    expect((await index.totals('one')).stored.files).to.equal(3)
    expect(await index.recount('one', { repair: false })).to.deep.equal([])
    expect(Object.keys(await contentOf(to))).to.have.length(Object.keys(contents[2] ?? {}).length)
  })

  it('has its change in progress ended, wherever that was begun', async () => {
    const { process, begin, move, keyspaces } = opened()
    const refs: FileRef[] = Array.from({ length: 4 }, () => newRef('one'))
    const { index } = process()
    for (const ref of refs) await index.beginChange({ ref, until: NOW })
    await begin('one', 64)
    const later = process().index
    for (const ref of refs) await later.beginChange({ ref, until: NOW + 1 })
    for (const ref of refs) await later.endChange({ ref, until: NOW })
    expect(await later.overdueChanges(NOW + 1)).to.have.length(4)
    // A mark is where its process believed the file to be. It is ended also after the move.
    await move('one', 64)
    for (const ref of refs) await later.endChange({ ref, until: NOW + 1 })
    for (const keyspace of keyspaces) expect(await contentOf(keyspace)).to.deep.equal({})
  })
})

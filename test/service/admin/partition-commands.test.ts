import { expect } from 'chai'
import type { ClientPartitions, MoveOptions } from '../../../src/core/ports/index/partitioning.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { type PartitionOptions, withPartitions } from '../../../src/service/admin/partition-commands.ts'
import { rejection } from '../../support/rejection.ts'

describe('the commands of partitions', () => {
  const CLIENT = { id: 'a', clientToken: 'pub_a', createdAt: '2026-01-01T12:00:00.000Z', state: 'active' }
  const moves: number[] = []
  /** Whether each of them may end. */
  const ends: boolean[] = []
  const reported: unknown[] = []
  beforeEach(() => {
    moves.length = 0
    ends.length = 0
    reported.length = 0
  })

  /** @param state what the index answers */
  function commandsOf({
    isCompared = true,
    of = async (): Promise<ClientPartitions> => ({ partitions: 1 }),
    shared,
  }: {
    isCompared?: boolean
    of?: () => Promise<ClientPartitions>
    /** The result of another call, for which this one waits. */
    shared?: object
  }) {
    const options = {
      store: { refresh: async () => {}, find: (id: string) => (id === 'a' ? CLIENT : undefined) },
      index: {
        run: async () => ({ id: 'run', isCompared }),
        totals: async () => ({ stored: { files: 5, bytes: 9 }, trashed: { files: 2, bytes: 1 } }),
      },
      locks: {
        share: async (_: string, work: (signal: AbortSignal) => Promise<unknown>) =>
          shared ?? work(new AbortController().signal),
      },
      partitioning: {
        of,
        async move(_: string, partitions: number, { progress, mayEnd }: MoveOptions) {
          moves.push(partitions)
          ends.push(await mayEnd())
          await progress({ phase: 'moving', files: 7 })
          return { partitions, isChanged: true, files: 7 }
        },
      },
    }
    const commands = withPartitions(
      { 'client show': async () => CLIENT },
      options as unknown as PartitionOptions,
    )
    const run = {
      signal: new AbortController().signal,
      report: async (item: unknown) => void reported.push(item),
    }
    return (name: string, args: object) => commands[name]?.(args, run) as Promise<unknown>
  }

  it('move the files, with the number of all of them in the progress', async () => {
    const command = commandsOf({})
    expect(await command('client partition', { id: 'a', partitions: 64 })).to.deep.include({
      id: 'a',
      partitions: 64,
      files: 7,
    })
    expect(reported).to.deep.equal([
      { progress: { 'files moved by this command': 7, 'files of the client': 7 } },
    ])
  })

  it('begin no move while the index is compared with the bucket, but continue one', async () => {
    const args = { id: 'a', partitions: 64 }
    const first = commandsOf({ isCompared: false })
    expect(await rejection(first('client partition', args))).to.include({ status: 503 })
    expect(moves).to.deep.equal([])
    await commandsOf({ isCompared: false, of: async () => ({ partitions: 1, movingTo: 64 }) })(
      'client partition',
      args,
    )
    expect(moves).to.deep.equal([64])
    // It ends when the index was compared: otherwise a delete would not list the bucket.
    expect(ends).to.deep.equal([false])
    await commandsOf({})('client partition', args)
    expect(ends).to.deep.equal([false, true])
  })

  it('refuse another number than that of a move, also of one that has begun in the meantime', async () => {
    const args = { id: 'a', partitions: 1 }
    const moving = commandsOf({ of: async () => ({ partitions: 1, movingTo: 64 }) })
    expect(await rejection(moving('client partition', args))).to.include({ status: 409 })
    const shared = { partitions: 64, isChanged: true, files: 7 }
    const waiting = commandsOf({ of: async () => ({ partitions: 64 }), shared })
    expect(await rejection(waiting('client partition', args))).to.include({
      status: 409,
      message: 'The files of a have moved to 64 partitions in the meantime. Run the command again.',
    })
    expect(moves).to.deep.equal([])
  })

  it('show a client while the node is down that has its number', async () => {
    expect(await commandsOf({})('client show', { id: 'a' })).to.deep.equal({ ...CLIENT, partitions: 1 })
    const of = () => Promise.reject(unavailable('It is down.'))
    expect(await commandsOf({ of })('client show', { id: 'a' })).to.deep.equal(CLIENT)
    const defect = commandsOf({ of: () => Promise.reject(new TypeError('a defect')) })
    expect(await rejection(defect('client show', { id: 'a' }))).to.be.instanceOf(TypeError)
  })
})

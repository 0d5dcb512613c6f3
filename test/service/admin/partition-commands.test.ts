import { expect } from 'chai'
import type { ClientPartitions, MoveOptions } from '../../../src/core/ports/index/partitioning.ts'
import { unavailable } from '../../../src/core/problem.ts'
import { type PartitionOptions, withPartitions } from '../../../src/service/admin/partition-commands.ts'
import { rejection } from '../../support/rejection.ts'

describe('the commands of partitions', () => {
  const CLIENT = { id: 'a', clientToken: 'pub_a', createdAt: '2026-01-01T12:00:00.000Z', state: 'active' }
  const moves: number[] = []
  const reported: unknown[] = []
  beforeEach(() => {
    moves.length = 0
    reported.length = 0
  })

  /** @param state what the index answers */
  function commandsOf({
    isCompared = true,
    of = async (): Promise<ClientPartitions> => ({ partitions: 1 }),
  }: {
    isCompared?: boolean
    of?: () => Promise<ClientPartitions>
  }) {
    const options = {
      store: { refresh: async () => {}, find: (id: string) => (id === 'a' ? CLIENT : undefined) },
      index: {
        run: async () => ({ id: 'run', isCompared }),
        totals: async () => ({ stored: { files: 5, bytes: 9 }, trashed: { files: 2, bytes: 1 } }),
      },
      locks: {
        share: <T>(_: string, work: (signal: AbortSignal) => Promise<T>) =>
          work(new AbortController().signal),
      },
      partitioning: {
        of,
        async move(_: string, partitions: number, { progress }: MoveOptions) {
          moves.push(partitions)
          await progress(7)
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
    expect(reported[0]).to.deep.equal({ progress: { moved: 0, files: 7 } })
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
  })

  it('show a client while the node is down that has its number', async () => {
    expect(await commandsOf({})('client show', { id: 'a' })).to.deep.equal({ ...CLIENT, partitions: 1 })
    const of = () => Promise.reject(unavailable('It is down.'))
    expect(await commandsOf({ of })('client show', { id: 'a' })).to.deep.equal(CLIENT)
  })
})

import { expect } from 'chai'
import type { Client } from '../../../../src/core/clients/client.ts'
import { type ObjectKey, recordKey } from '../../../../src/core/files/object-key.ts'
import type { Buckets } from '../../../../src/core/ports/bucket.ts'
import type { ClientStore } from '../../../../src/core/ports/client-store.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { type Problem, unavailable } from '../../../../src/core/problem.ts'
import {
  FIRST_PLACE,
  isOver,
  type Progress,
  progressIn,
} from '../../../../src/service/maintenance/comparison/progress.ts'
import { createRanges } from '../../../../src/service/maintenance/comparison/ranges.ts'
import { rejection } from '../../../support/rejection.ts'
import { inMemory, textKey } from '../../../support/stored/compared.ts'

const { signal } = new AbortController()

describe('the ranges of a comparison', () => {
  let progress: ReturnType<typeof progressIn>
  let known: Client[]
  let refreshed: Client[]
  let compared: ObjectKey[]
  let isDown: boolean
  let refused: (clientId: string, call: 'list' | 'find') => boolean
  let lists: number
  let failure: () => Error
  let ping: () => Promise<void>
  beforeEach(async () => {
    let text: string | undefined
    const ledger = {
      find: async () => text,
      replace: async (_: string, before: string | undefined, after: string | undefined) => {
        if (before !== text) return false
        text = after
        return true
      },
    }
    progress = progressIn(ledger, () => 0)
    const begun = { run: 'run 1', pass: 'all', startedAt: 0, files: 0, added: 0, removed: 0 } as const
    await progress.begin({ ...begun, next: FIRST_PLACE, ranges: [] })
    known = refreshed = [{ id: 'a' } as Client]
    compared = []
    isDown = false
    refused = () => false
    lists = 0
    failure = () => unavailable('The bucket is down.')
    ping = async () => {}
  })

  function open() {
    const keys = Array.from({ length: 20 }, (_, i) => textKey(i))
    const objects = new Map([...keys, ...keys.map(recordKey)].map((key) => [key, Buffer.from('x')]))
    return createRanges({
      index: { ping: () => ping() } as FileIndex,
      buckets: {
        of: ({ id }: Client) =>
          inMemory({
            objects,
            calls: [],
            before(call) {
              if (call.startsWith('list')) lists += 1
              if (refused(id, 'list')) throw failure()
            },
          }),
      } as unknown as Buckets,
      clients: {
        refresh: async () => {
          known = refreshed
        },
        list: () => known,
        find: (id: string) => known.find((one) => one.id === id),
      } as unknown as ClientStore,
      alone: (_, work, own) => work(own),
      progress,
      compareBatch: async ({ id }, { files }) => {
        if (isDown || refused(id, 'find')) throw failure()
        compared.push(...files.keys())
        return { files: files.size, added: 0, removed: 0, findings: [] }
      },
      reached: async () => {},
      batchKeys: 2,
    })
  }
  const current = async () => (await progress.find()) as Progress
  /** Compares all that can be read. @returns the messages of the failures */
  async function attemptOf(ranges: ReturnType<typeof open>): Promise<string[]> {
    const failures = new Map<string, Problem>()
    while (await ranges.compareOne(await current(), failures, signal));
    return [...failures.values()].map(({ message }) => message)
  }

  it('are not left behind for each attempt while a bucket is down', async () => {
    isDown = true
    const ranges = open()
    for (let attempt = 0; attempt < 3; attempt += 1) await attemptOf(ranges)
    // The range that has failed, and the rest of the client.
    expect((await current()).ranges).to.have.length(2)
    isDown = false
    expect(await attemptOf(ranges)).to.deep.equal([])
    expect(compared).to.have.length(20)
    expect(isOver(await current())).to.equal(true)
  })

  for (const part of ['list', 'find'] as const)
    it(`of the other clients are compared when a bucket refuses each ${part}`, async () => {
      known = refreshed = ['a', 'b', 'c'].map((id) => ({ id }) as Client)
      refused = (client, call) => client === 'b' && call === part
      const ranges = open()
      for (let attempt = 0; attempt < 3; attempt += 1) {
        expect(await attemptOf(ranges)).to.deep.equal(['files of the client b: The bucket is down.'])
        expect(compared).to.have.length(40)
      }
      refused = () => false
      // Another process shares what is left of this client.
      expect(await attemptOf(open())).to.deep.equal([])
      expect(compared).to.have.length(60)
      expect(isOver(await current())).to.equal(true)
    })

  it('of one client do not stop the others after any error, and end the attempt when the index or the common bucket is down', async () => {
    known = refreshed = ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id }) as Client)
    failure = () => new Error('EACCES')
    refused = (client) => client === 'b'
    expect(await attemptOf(open())).to.deep.equal(['files of the client b: EACCES'])
    expect(compared).to.have.length(80)
    isDown = true
    const ranges = open()
    ping = () => Promise.reject(new Error('The index is down.'))
    await progress.begin({ ...(await current()), run: 'run 2', next: FIRST_PLACE, ranges: [] })
    expect(await rejection(attemptOf(ranges))).to.have.property('message', 'EACCES')
    expect((await current()).ranges.filter(({ isPostponed }) => isPostponed)).to.deep.equal([])
    ping = async () => {}
    expect(await rejection(attemptOf(ranges))).to.have.property('message', 'files of the client c: EACCES')
  })

  it('of a later pass do not continue a list that was opened in an earlier one', async () => {
    const ranges = open()
    await ranges.compareOne(await current(), new Map(), signal)
    const { next } = await current()
    if (!next) throw new Error('expected a further range')
    const before = lists
    await progress.take(await current(), { from: next, next: undefined })
    const ended = await current()
    await progress.endPass(ended, { ...ended, pass: 'originals', next })
    await ranges.compareOne(await current(), new Map(), signal)
    expect(lists).to.be.above(before)
  })

  it('include those of a client that another process has just added', async () => {
    const { next: _, ...begun } = await current()
    await progress.begin({ ...begun, run: 'run 2', ranges: [{ id: 'left', clientId: 'a', after: '' }] })
    known = []
    while (await open().compareOne(await current(), new Map(), signal));
    expect(compared).to.have.length(20)
  })

  it('are not complete without any client', async () => {
    known = refreshed = []
    expect(await rejection(open().compareOne(await current(), new Map(), signal))).to.have.property(
      'status',
      409,
    )
    expect((await current()).next).to.deep.equal(FIRST_PLACE)
  })

  it('count a batch once, although two processes have compared it', async () => {
    const { next: _, ...begun } = await current()
    const range = { id: 'left', clientId: 'a', after: '' }
    await progress.begin({ ...begun, run: 'run 2', ranges: [range] })
    const batch = { upTo: textKey(3), compared: { files: 3, added: 0, removed: 0, findings: [] } }
    expect(await progress.reached(await current(), range, batch)).to.equal(true)
    expect(await progress.reached(await current(), range, batch)).to.equal(false)
    expect(await current()).to.deep.include({ files: 3, ranges: [{ ...range, after: textKey(3) }] })
  })

  it('of another run are not ended by a process that has ended its own', async () => {
    const { next: _, ...own } = await current()
    await progress.begin({ ...own, run: 'run 2' })
    expect(await progress.endPass(own)).to.equal(false)
    expect(await progress.begin({ ...own, run: 'run 2', files: 7 })).to.equal(false)
    expect(await current()).to.include({ run: 'run 2', files: 0 })
  })
})

import { expect } from 'chai'
import type { Client } from '../../../../src/core/clients/client.ts'
import { type ObjectKey, recordKey } from '../../../../src/core/files/object-key.ts'
import type { Buckets } from '../../../../src/core/ports/bucket.ts'
import type { ClientStore } from '../../../../src/core/ports/client-store.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import {
  FIRST_PLACE,
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
  })

  function open() {
    const keys = Array.from({ length: 20 }, (_, i) => textKey(i))
    const objects = new Map([...keys, ...keys.map(recordKey)].map((key) => [key, Buffer.from('x')]))
    return createRanges({
      index: {} as FileIndex,
      buckets: { of: () => inMemory({ objects, calls: [], before: () => {} }) } as unknown as Buckets,
      clients: {
        refresh: async () => {
          known = refreshed
        },
        list: () => known,
        find: (id: string) => known.find((one) => one.id === id),
      } as unknown as ClientStore,
      alone: (_, work, own) => work(own),
      progress,
      compareBatch: async (_, { files }) => {
        if (isDown) throw unavailable('The bucket is down.')
        compared.push(...files.keys())
        return { files: files.size, added: 0, removed: 0, findings: [] }
      },
      reached: async () => {},
      batchKeys: 2,
    })
  }
  const current = async () => (await progress.find()) as Progress

  it('are not left behind for each attempt while a bucket is down', async () => {
    isDown = true
    const ranges = open()
    for (let attempt = 0; attempt < 3; attempt += 1)
      await rejection(ranges.compareOne(await current(), signal))
    expect((await current()).ranges).to.have.length(1)
    isDown = false
    while (await ranges.compareOne(await current(), signal));
    expect(compared).to.have.length(20)
  })

  it('include those of a client that another process has just added', async () => {
    const { next: _, ...begun } = await current()
    await progress.begin({ ...begun, run: 'run 2', ranges: [{ id: 'left', clientId: 'a', after: '' }] })
    known = []
    while (await open().compareOne(await current(), signal));
    expect(compared).to.have.length(20)
  })

  it('are not complete without any client', async () => {
    known = refreshed = []
    expect(await rejection(open().compareOne(await current(), signal))).to.have.property('status', 409)
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

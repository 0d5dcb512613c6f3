import { expect } from 'chai'
import { storedKey } from '../../src/core/object-key.ts'
import type { FileIndex } from '../../src/core/ports/file-index.ts'
import { createSweep } from '../../src/service/sweep.ts'
import { keptLog } from '../support/service.ts'

describe('a sweep', () => {
  const key = storedKey('image/png/1111111111111111111111.png')

  it('ends several at a time, so that many are ended before the next sweep', async () => {
    let running = 0
    let most = 0
    const index = {
      overdueChanges: async () => [],
      async *overdue() {
        for (let i = 0; i < 100; i += 1) yield { kind: 'original', ref: { clientId: 'first', key } } as const
      },
    } satisfies Partial<FileIndex> as unknown as FileIndex
    const sweep = createSweep({
      index,
      buckets: {} as never,
      clients: { find: (id: string) => ({ id }) } as never,
      agree: async () => {},
      removals: {
        async sweep() {
          running += 1
          most = Math.max(most, running)
          await new Promise((done) => setImmediate(done))
          running -= 1
        },
      } as never,
      log: keptLog(),
    })
    expect(await sweep()).to.equal(100)
    expect(most).to.equal(16)
  })
})

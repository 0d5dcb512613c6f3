import { expect } from 'chai'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { createSweep } from '../../../src/service/maintenance/sweep.ts'
import { recordLog } from '../../support/service.ts'

describe('a sweep', () => {
  const key = storedKey('image/png/1111111111111111111111.png')

  it('handles several items concurrently, so that many are done before the next sweep', async () => {
    let running = 0
    let most = 0
    const index = {
      overdueChanges: async () => [],
      async *overdue() {
        for (let i = 0; i < 100; i += 1) yield { kind: 'original', ref: { clientId: 'first', key } } as const
      },
      tidy: async () => 0,
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
      log: recordLog(),
    })
    expect(await sweep()).to.equal(100)
    expect(most).to.equal(16)
  })

  describe('for the changed record of a client that is unknown here', () => {
    const change = { ref: { clientId: 'new', key }, until: 1 }
    const swept = async ({ isAdded, hasFile }: { isAdded: boolean; hasFile: boolean }) => {
      const done: string[] = []
      let isKnown = false
      const sweep = createSweep({
        index: {
          overdueChanges: async () => [change],
          async *overdue() {},
          find: async () => (hasFile ? { original: { state: 'stored' } } : {}),
          endChange: async () => void done.push('mark removed'),
          tidy: async () => 0,
        } satisfies Partial<Record<keyof FileIndex, unknown>> as unknown as FileIndex,
        buckets: {} as never,
        clients: {
          find: (id: string) => (isKnown ? { id } : undefined),
          refresh: async () => {
            isKnown = isAdded
          },
        } as never,
        agree: async () => void done.push('agreed'),
        removals: { sweepLatePuts: async () => true } as never,
        log: recordLog(),
      })
      return { ended: await sweep(), done }
    }

    it('updates the index when another process has added the client', async () => {
      expect(await swept({ isAdded: true, hasFile: true })).to.deep.equal({
        ended: 1,
        done: ['agreed', 'mark removed'],
      })
    })

    it('retains the mark while the client is unknown and the index has the file', async () => {
      expect(await swept({ isAdded: false, hasFile: true })).to.deep.equal({ ended: 0, done: [] })
    })

    it('removes the mark when the file of a removed client is deleted', async () => {
      expect(await swept({ isAdded: false, hasFile: false })).to.deep.equal({
        ended: 1,
        done: ['mark removed'],
      })
    })
  })

  it('frees memory of the index each time, also after a failure', async () => {
    let calls = 0
    const closing = new AbortController()
    const log = recordLog()
    const sweep = createSweep({
      index: {
        overdueChanges: async () => [],
        async *overdue() {},
        async tidy({ signal, most }) {
          calls += 1
          expect([signal, most]).to.deep.equal([closing.signal, 10_000])
          if (calls === 1) throw new Error('the memory of Redis is full')
          return 0
        },
      } satisfies Partial<FileIndex> as unknown as FileIndex,
      buckets: {} as never,
      clients: {} as never,
      agree: async () => {},
      removals: {} as never,
      log,
    })
    expect([await sweep(closing.signal), await sweep(closing.signal), calls]).to.deep.equal([0, 0, 2])
    expect(log.lines.map(({ level }) => level)).to.deep.equal(['warn'])
  })
})

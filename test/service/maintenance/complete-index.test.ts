import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { embeddedLedger } from '../../../src/adapters/ledger/embedded.ts'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { type ObjectKey, storedKey } from '../../../src/core/files/object-key.ts'
import type { Ledger } from '../../../src/core/ports/ledger.ts'
import { createCompletion } from '../../../src/service/maintenance/complete-index.ts'
import { createReindex } from '../../../src/service/maintenance/reindex.ts'
import { rejection } from '../../support/rejection.ts'
import { recordLog } from '../../support/service.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

// More than are repeated after an interruption.
const RECORDS = 2500
const { signal } = new AbortController()

/** The keys of records without an original: each is read from the index, and ignored. */
const recordsOf = (client: string): ObjectKey[] =>
  Array.from({ length: RECORDS }, (_, i) =>
    storedKey(`.sluice/meta/${client}/text/txt/${String(i).padStart(22, '1').replaceAll('0', 'z')}.txt.json`),
  ).sort()

describe('an interrupted comparison of the index with all files', () => {
  let folder: string
  let ledger: Ledger & { close(): Promise<void> }
  let run: string
  let isComplete: boolean
  let read: string[]
  let failAt: string | undefined
  before(async () => {
    folder = await temporaryFolder()
    ledger = await embeddedLedger(folder)
  })
  beforeEach(() => {
    run = 'first'
    isComplete = false
    read = []
    failAt = undefined
  })
  after(async () => {
    await ledger.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** A new process. */
  function start() {
    const index = {
      run: async () => ({ id: run, isCompared: isComplete }),
      isComplete: async () => isComplete,
      isCounted: async () => isComplete,
      canSearch: async () => isComplete,
      find: async () => ({}),
      recount: async () => {},
      markComplete: async () => {},
      async *list() {},
      noteCompared: async () => {
        isComplete = true
      },
    }
    const bucketOf = ({ id }: Pick<Client, 'id'>) => ({
      find: async () => undefined,
      async *list(_prefix: string, { after = '' } = {}) {
        for (const key of recordsOf(id)) {
          if (key <= after) continue
          if (key === failAt) throw new Error('the bucket is down')
          read.push(key)
          yield key
        }
      },
    })
    const log = recordLog()
    const clients = { refresh: async () => {}, list: () => [{ id: 'b' }, { id: 'a' }] }
    const originals = { resolve: async () => undefined }
    const reindex = createReindex({
      index,
      buckets: { of: bucketOf },
      clients,
      originals,
      agree: async () => undefined,
      forgetMissing: async () => false,
    } as unknown as Parameters<typeof createReindex>[0])
    const parts = { index, ledger, locks: inProcessLocks(), reindex, log }
    return createCompletion(parts as unknown as Parameters<typeof createCompletion>[0])
  }

  it('continues in another process, and states how far it is', async () => {
    const ofB = recordsOf('b')
    failAt = ofB[1700]
    const first = start()
    expect(await rejection(first.complete(signal))).to.have.property('message', 'the bucket is down')
    expect(read).to.have.length(RECORDS + 1700)
    expect(first.state()?.files).to.be.within(4000, 4200)
    read = []
    failAt = undefined
    await start().complete(signal)
    // At most a thousand files are read again, and none of the first client.
    expect(read.slice(0, RECORDS - 1500)).to.deep.equal(ofB.slice(1500))
    expect(isComplete).to.equal(true)
    const last = start()
    await last.complete(signal)
    expect(last.state()).to.equal(undefined)
  })

  it('begins again in another run of the store, which has lost its entries', async () => {
    failAt = recordsOf('b')[0]
    await rejection(start().complete(signal))
    run = 'second'
    failAt = undefined
    read = []
    await start().complete(signal)
    expect(read[0]).to.equal(recordsOf('a')[0])
  })
})

import { expect } from 'chai'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { recordKey } from '../../../src/core/files/object-key.ts'
import { parsePath } from '../../../src/core/files/request-path.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { storageFull } from '../../../src/core/problem.ts'
import { createAgree } from '../../../src/service/originals/agree.ts'
import { createRemovals } from '../../../src/service/originals/delete.ts'
import type { OriginalEvents } from '../../../src/service/originals/original-events.ts'
import { createOriginals } from '../../../src/service/originals/originals.ts'
import { createRecords, serializeRecord } from '../../../src/service/originals/records.ts'
import { createSoftDeletes } from '../../../src/service/originals/trash.ts'
import { type ComparedStorage, openCompared, textKey } from '../../support/stored/compared.ts'
import { recordLog } from '../../support/texts/recorded-log.ts'

const CLIENT = { id: 'first', rules: { keepDeletedSeconds: 60 } } as unknown as Client
const KEY = textKey(1)
const REF = { clientId: 'first', key: KEY }

describe('the trash', () => {
  let storage: ComparedStorage
  let events: string[]
  /** Of the file whenever its malware scan is queued. */
  let states: Array<string | undefined>
  beforeEach(async () => {
    storage = await openCompared()
    events = []
    states = []
  })
  afterEach(() => storage.close())

  function open(wrap: Partial<FileIndex> = {}) {
    const { buckets } = storage
    const index = { ...storage.index, ...wrap }
    const originalEvents = Object.fromEntries(
      ['stored', 'trashed', 'restored', 'deleted'].map((name) => [name, () => events.push(name)]),
    ) as unknown as OriginalEvents
    const originals = createOriginals({ index, buckets, originalEvents })
    const records = createRecords({ index, buckets, locks: inProcessLocks() })
    const agree = createAgree({ index, originals, records })
    const trash = createSoftDeletes({
      ...{ index, originals, records, originalEvents },
      scans: {
        async resume() {
          states.push((await index.find(REF)).original?.state)
        },
      },
    })
    const pendingStores = { ended: async () => {} }
    const removals = (now: number) =>
      createRemovals({
        ...{ index, buckets, originals, trash, agree, pendingStores, originalEvents },
        log: recordLog(),
        now: () => now,
      } as unknown as Parameters<typeof createRemovals>[0])
    return { trash, removals, agree }
  }
  /** As a full disk or a full Redis does. */
  const withoutRoom = open.bind(undefined, {
    noteRecordTag: async () => {
      throw storageFull(undefined)
    },
  })
  const tagOf = async () => {
    const { original } = await storage.index.find(REF)
    return original && 'record' in original ? original.recordTag : undefined
  }

  it('deletes, restores and expires files, and reports that, while the index has no room for tags', async () => {
    await storage.store(KEY)
    const { trash, removals } = withoutRoom()
    expect(await removals(1).remove(CLIENT, parsePath(KEY))).to.include({ key: KEY })
    expect((await trash.restore(CLIENT, parsePath(KEY))).name.key).to.equal(KEY)
    expect(await removals(1).remove(CLIENT, parsePath(KEY))).to.include({ key: KEY })
    await removals(9e15).sweep(CLIENT, REF)
    expect((await storage.index.find(REF)).original).to.equal(undefined)
    expect([...storage.bucketOf('first').objects.keys()]).to.deep.equal([])
    expect(events).to.deep.equal(['trashed', 'restored', 'trashed', 'deleted'])
  })

  it('queues the malware scan of a restored file before a crash can lose it, and when the scan can find it', async () => {
    await storage.store(KEY)
    const { trash, removals } = open()
    await removals(1).remove(CLIENT, parsePath(KEY))
    await trash.restore(CLIENT, parsePath(KEY))
    expect(states).to.deep.equal(['trashed', 'stored'])
  })

  it('has the tag of a record whose mark the index had lost', async () => {
    const record = await storage.store(KEY)
    const trash = { at: 1, until: 9e12 }
    storage.bucketOf('first').objects.set(recordKey(KEY), serializeRecord(record, trash))
    await open().agree(CLIENT, KEY)
    expect((await storage.index.find(REF)).original).to.deep.include({ state: 'trashed', trash })
    const recordTag = await tagOf()
    expect(recordTag).to.be.a('string')
    await open().agree(CLIENT, KEY)
    expect(await tagOf()).to.equal(recordTag)
  })
})

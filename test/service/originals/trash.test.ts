import { expect } from 'chai'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { recordKey } from '../../../src/core/files/object-key.ts'
import { parsePath } from '../../../src/core/files/request-path.ts'
import type { ClientStore } from '../../../src/core/ports/client-store.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { Problem, storageFull } from '../../../src/core/problem.ts'
import { createSweep } from '../../../src/service/maintenance/sweep.ts'
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
    const sweep = (now: number) =>
      createSweep({
        ...{ index, buckets, agree, removals: removals(now), log: recordLog(), now: () => now },
        clients: { find: () => CLIENT } as unknown as ClientStore,
      })
    const removals = (now: number) =>
      createRemovals({
        ...{ index, buckets, originals, trash, agree, pendingStores, originalEvents },
        log: recordLog(),
        now: () => now,
      } as unknown as Parameters<typeof createRemovals>[0])
    return { trash, removals, agree, sweep }
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

  it('has the tags of the restored record when the index had lost them before the delete', async () => {
    const record = await storage.store(KEY)
    const tagged = { ...record, tags: ['lost'] }
    const { trash, removals } = open()
    await removals(1).remove(CLIENT, parsePath(KEY))
    const deleted = serializeRecord(tagged, { at: 1, until: 9e12 })
    storage.bucketOf('first').objects.set(recordKey(KEY), deleted)
    await trash.restore(CLIENT, parsePath(KEY))
    expect((await storage.index.find(REF)).original).to.deep.include({ state: 'stored', record: tagged })
    expect(await tagOf()).to.be.a('string')
  })

  it('restores a file although the index is emptied meanwhile', async () => {
    await storage.store(KEY)
    const { removals } = open()
    await removals(1).remove(CLIENT, parsePath(KEY))
    const { trash } = open({
      async restore(...step) {
        await storage.empty()
        return storage.index.restore(...step)
      },
    })
    expect((await trash.restore(CLIENT, parsePath(KEY))).name.key).to.equal(KEY)
    expect((await storage.index.find(REF)).original?.state).to.equal('stored')
  })

  const losses = {
    'the step': () => storage.index.restore(REF, 0),
    'the file': () => storage.empty(),
  }
  for (const [lost, lose] of Object.entries(losses))
    it(`never continues as a permanent delete when the index loses ${lost}`, async () => {
      const record = await storage.store(KEY)
      const { removals } = open({
        async trash(...step) {
          const taken = await storage.index.trash(...step)
          await lose()
          return taken
        },
        async beginRemoval(...step) {
          // Another request has found it in the bucket.
          await storage.index.adopt('first', record)
          return storage.index.beginRemoval(...step)
        },
      })
      const failed = await removals(1)
        .remove(CLIENT, parsePath(KEY))
        .catch((error: unknown) => error)
      expect(failed).to.include({ status: 503 })
      expect([...storage.bucketOf('first').objects.keys()]).to.have.members([KEY, recordKey(KEY)])
      expect(events).to.deep.equal([])
    })

  it('leaves no record when its put takes effect after a failure and a permanent delete', async () => {
    await storage.store(KEY)
    const { objects, ...bucket } = storage.bucketOf('first')
    let late: Buffer | undefined
    Object.assign(storage.bucketOf('first'), {
      before(call: string) {
        if (call !== `put ${recordKey(KEY)}`) return
        late = objects.get(recordKey(KEY))
        throw new Problem({ status: 503, code: 'unavailable', detail: 'no answer' })
      },
    })
    const { removals, sweep } = open()
    const failed = await removals(1)
      .remove(CLIENT, parsePath(KEY))
      .catch((error: unknown) => error)
    expect(failed).to.include({ status: 503 })
    Object.assign(storage.bucketOf('first'), bucket)
    await removals(1).remove(CLIENT, parsePath(KEY), true)
    if (late) objects.set(recordKey(KEY), late)
    expect([...objects.keys()]).to.deep.equal([recordKey(KEY)])
    await sweep(9e15)()
    expect([...objects.keys()]).to.deep.equal([])
  })

  it('leaves no record when its file is deleted permanently before its put, and the index does not answer after it', async () => {
    await storage.store(KEY)
    let isAway = false
    const { removals, sweep } = open({
      async find(...step) {
        if (isAway) throw new Problem({ status: 503, code: 'unavailable', detail: 'no answer' })
        return storage.index.find(...step)
      },
    })
    const { objects } = storage.bucketOf('first')
    storage.bucketOf('first').before = async (call) => {
      if (call !== `put ${recordKey(KEY)}` || isAway) return
      await open().removals(1).remove(CLIENT, parsePath(KEY), true)
      isAway = true
    }
    const failed = await removals(1)
      .remove(CLIENT, parsePath(KEY))
      .catch((error: unknown) => error)
    expect(failed).to.include({ status: 503 })
    expect([...objects.keys()]).to.deep.equal([recordKey(KEY)])
    isAway = false
    await sweep(9e15)()
    expect([...objects.keys()]).to.deep.equal([])
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

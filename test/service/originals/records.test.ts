import { expect } from 'chai'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import type { Client } from '../../../src/core/clients/client.ts'
import { recordKey } from '../../../src/core/files/object-key.ts'
import { createRecords } from '../../../src/service/originals/records.ts'
import { rejection } from '../../support/rejection.ts'
import { type ComparedStorage, openCompared, textKey } from '../../support/stored/compared.ts'

const CLIENT = { id: 'first' } as unknown as Client
const KEY = textKey(1)

describe('a changed record that the index cannot take', () => {
  let storage: ComparedStorage
  beforeEach(async () => {
    storage = await openCompared()
  })
  afterEach(() => storage.close())

  const open = (now = 0) =>
    createRecords({ index: storage.index, buckets: storage.buckets, locks: inProcessLocks(), now: () => now })
  const marks = () => storage.index.overdueChanges(9e15)

  it('is deleted with the answer 404 when its file was deleted', async () => {
    const record = await storage.store(KEY, { indexed: false })
    const { objects } = storage.bucketOf('first')
    objects.delete(KEY)
    expect(await rejection(open().amend(CLIENT, record))).to.have.property('status', 404)
    expect([...objects.keys()]).to.deep.equal([])
  })

  it('remains with the answer 503 when the index has lost its file', async () => {
    const record = await storage.store(KEY, { indexed: false })
    expect(await rejection(open().amend(CLIENT, record))).to.have.property('status', 503)
    expect([...storage.bucketOf('first').objects.keys()]).to.include(recordKey(KEY))
  })

  it('is not copied over a later change, after a pause that was longer than the lock', async () => {
    const record = await storage.store(KEY)
    const later = { ...record, tags: ['later'] }
    await open().amend(CLIENT, later, { from: record })
    const stale = open().amend(CLIENT, { ...record, tags: ['stale'] }, { from: record })
    expect(await rejection(stale)).to.have.property('status', 503)
    const { original } = await storage.index.find({ clientId: 'first', key: KEY })
    expect(original).to.deep.include({ state: 'stored', record: later })
    // A repetition, whose first answer was lost.
    expect(await open().amend(CLIENT, later, { from: record })).to.deep.equal(later)
  })

  it('is noted for a sweep when it cannot be deleted', async () => {
    const record = await storage.store(KEY, { indexed: false })
    storage.bucketOf('first').before = () => {
      throw new Error('no answer')
    }
    expect(await rejection(open(5).amend(CLIENT, record))).to.have.property('message', 'no answer')
    expect(await marks()).to.deep.equal([{ ref: { clientId: 'first', key: KEY }, until: 60_005 }])
  })
})

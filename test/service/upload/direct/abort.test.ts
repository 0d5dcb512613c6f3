import { mock } from 'node:test'
import { expect } from 'chai'
import { assetFromBytes } from '../../../../src/core/bytes/asset.ts'
import type { Client } from '../../../../src/core/clients/client.ts'
import type { Bucket } from '../../../../src/core/ports/bucket.ts'
import type { Locks } from '../../../../src/core/ports/locks.ts'
import { createAborts } from '../../../../src/service/upload/direct/abort.ts'
import type { ResumableRecord } from '../../../../src/service/upload/resumable/resumable-record.ts'
import { rejection } from '../../../support/rejection.ts'

const REF = { clientId: 'first', id: '1111111111111111111111' }
const RECORD: ResumableRecord = {
  fileId: '2222222222222222222222',
  createdAt: 0,
  size: 5,
  originalName: 'a.bin',
  folder: '',
  direct: { uploadId: 'a', until: 1, isComplete: true },
}

/** An abort of a complete upload. @param share the lock */
function abort(share: Locks['share'], discard = async () => {}): Promise<void> {
  const asset = assetFromBytes(Buffer.from(JSON.stringify(RECORD)), {
    mediaType: 'application/json',
    lastModified: new Date(0),
  })
  const { abort } = createAborts({
    bucket: { find: async () => asset } as unknown as Bucket,
    locks: { share },
    assemble: { endOf: async () => ({ at: 1, isJoined: true }) },
    discard,
    signal: new AbortController().signal,
    now: () => 0,
  })
  return abort({ id: 'first' } as Client, REF)
}

describe('an abort of a direct upload', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('waits a second for a request that stores the file, and longer for its own deletes', async () => {
    const storing: Locks['share'] = async (_name, _work, { signal }) => {
      mock.timers.tick(1000)
      signal?.throwIfAborted()
      throw new Error('it waits')
    }
    expect(await rejection(abort(storing))).to.have.property('code', 'upload_complete')
    let isDeleted = false
    const own: Locks['share'] = async (_name, work, { signal = new AbortController().signal }) => {
      const result = await work(signal)
      signal.throwIfAborted()
      return result
    }
    await abort(own, async () => {
      mock.timers.tick(20_000)
      isDeleted = true
    })
    expect(isDeleted).to.equal(true)
  })
})

import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Client } from '../../../../src/core/clients/client.ts'
import { newFileId, recordPrefix } from '../../../../src/core/files/object-key.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { createScanQueue } from '../../../../src/service/scans/scan-queue.ts'
import { LARGE_BYTES, type Patience, patienceFor } from '../../../../src/service/upload/direct/patience.ts'
import { createUpload } from '../../../../src/service/upload/upload.ts'
import { stoppedAtTheEnd } from '../../../support/backends.ts'
import { rejection } from '../../../support/rejection.ts'
import { startService } from '../../../support/service.ts'
import { wrapBuckets } from '../../../support/storage.ts'

describe('the steps after the bytes of a file', () => {
  const start = stoppedAtTheEnd(startService)
  const client = { id: 'first' } as Client

  it('run again for a large direct upload when the bucket or the index is away for a moment', async () => {
    const failures = new Set<string>()
    const failOnce = (step: string) => {
      if (failures.has(step)) return
      failures.add(step)
      throw unavailable(step)
    }
    const { storage } = await start()
    const failing = wrapBuckets(({ put }) => ({
      async put(key, bytes, options) {
        if (key.startsWith(recordPrefix)) failOnce('record')
        return put(key, bytes, options)
      },
    }))
    const { index, buckets } = failing(storage)
    const upload = createUpload({
      ...{ index, buckets, decodable: {}, maxBytes: 100, streamedMaxBytes: 100 },
      scans: createScanQueue({ jobs: undefined }),
      originalEvents: { stored() {} } as never,
      removals: { abandon: async () => {} } as never,
      async admits() {
        failOnce('admits')
        return true
      },
      checkPixels: async () => failOnce('pixels'),
    })
    const send = (patience?: Patience) =>
      upload({
        ...{ client, folder: undefined, id: newFileId(), signal: new AbortController().signal },
        files: one(),
        confirm: async () => failOnce('link'),
        ...(patience ? { patience } : {}),
      })
    async function* one() {
      yield { name: 'a.txt', bytes: Readable.from([Buffer.from('a text')], { objectMode: false }) }
    }
    expect(await rejection(send())).to.have.property('message', 'pixels')
    failures.clear()
    const [file] = await send(patienceFor(LARGE_BYTES, { signal: new AbortController().signal, retryMs: 1 }))
    expect(file?.record.size).to.equal(6)
    expect([...failures].toSorted()).to.deep.equal(['admits', 'link', 'pixels', 'record'])
  })

  it('run once for any other upload', async () => {
    let runs = 0
    const patience = patienceFor(LARGE_BYTES - 1, { signal: new AbortController().signal, retryMs: 1 })
    const step = async () => {
      runs += 1
      throw unavailable('S3 is away')
    }
    await rejection(patience(step))
    expect(runs).to.equal(1)
  })
})

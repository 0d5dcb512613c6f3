import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Client } from '../../../src/core/clients/client.ts'
import { recordPrefix, storedKey } from '../../../src/core/files/object-key.ts'
import type { OriginalRecord } from '../../../src/core/ports/file-index.ts'
import { createScanQueue } from '../../../src/service/scans/scan-queue.ts'
import { createUpload } from '../../../src/service/upload/upload.ts'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { startService } from '../../support/service.ts'
import { wrapBuckets } from '../../support/storage.ts'

const client = { id: 'first' } as Client
const waiting = { key: storedKey('text/txt/a.txt'), scan: { state: 'waiting' } } as OriginalRecord

describe('the queue of malware scans', () => {
  const start = stoppedAtTheEnd(startService)

  for (const how of ['direct', 'streamed'] as const)
    it(`has the scan of a ${how} upload before its record is stored`, async () => {
      const steps: string[] = []
      const { storage } = await start()
      const { index, buckets } = wrapBuckets(({ put }) => ({
        async put(key, bytes, options) {
          steps.push(key.startsWith(recordPrefix) ? 'record' : 'bytes')
          return put(key, bytes, options)
        },
      }))(storage)
      const enqueue = async () => void steps.push('scan')
      const upload = createUpload({
        ...{ index, buckets, decodable: {}, maxBytes: 100, streamedMaxBytes: 100 },
        scans: createScanQueue({ jobs: { enqueue } }),
        originalEvents: { stored() {} } as never,
        removals: { abandon: async () => {} } as never,
        admits: async () => true,
        checkPixels: async () => {},
      })
      const bytes = Readable.from([Buffer.from('a text')], { objectMode: false })
      const { put } = buckets.of(client)
      async function* files() {
        yield { name: 'a.txt', bytes, ...(how === 'direct' ? { put } : {}) }
      }
      const request = { client, folder: undefined, files: files(), signal: new AbortController().signal }
      const [file] = await upload(request)
      expect(file?.record.scan).to.deep.equal({ state: 'waiting' })
      expect(steps).to.deep.equal(['bytes', 'scan', 'record'])
    })

  it('does nothing without a scanner, but files that wait or are infected are not delivered', async () => {
    const scans = createScanQueue({ jobs: undefined })
    const plain = { key: waiting.key } as OriginalRecord
    expect(await scans.begin(client, [plain])).to.deep.equal([plain])
    await scans.resume(client, waiting)
    scans.check(client, plain)
    scans.check(client, { ...plain, scan: { state: 'clean' } })
    expect(() => scans.check(client, waiting))
      .to.throw()
      .with.property('code', 'file_not_scanned')
    const infected = { ...plain, scan: { state: 'infected', signature: 'x' } } as const
    expect(() => scans.check(client, infected))
      .to.throw()
      .with.property('code', 'file_infected')
  })

  it('gets a lost scan again by a request for the file', async () => {
    const ids: string[] = []
    const scans = createScanQueue({ jobs: { enqueue: async ({ id }) => void ids.push(id) } })
    expect(() => scans.check(client, waiting)).to.throw()
    expect(ids).to.deep.equal(['first text/txt/a.txt'])
  })
})

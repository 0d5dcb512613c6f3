import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Client } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { FileToScan, Verdict } from '../../../src/core/plugin-api/scanner.ts'
import type { OriginalRecord } from '../../../src/core/ports/file-index.ts'
import type { JobHandler } from '../../../src/core/ports/jobs.ts'
import type { Scan } from '../../../src/core/storage/scan.ts'
import { createScans } from '../../../src/service/scans/scans.ts'
import { recordLog } from '../../support/texts/recorded-log.ts'

const client = { id: 'first' } as Client
const key = storedKey('text/txt/AAAAAAAAAAAAAAAAAAAAAA.txt')
const infected: Verdict = { state: 'infected', signature: 'Test.Signature' }

/** Runs the job of one waiting file, as often as a test calls `run`. */
function scansOf(scan: (file: FileToScan) => Promise<Verdict>, bytes: () => Readable) {
  let handler: JobHandler<unknown> | undefined
  const file = { size: 6, mediaType: 'text/plain', lastModified: new Date(0), open: async () => bytes() }
  const stored = {
    key,
    size: 6,
    mediaType: 'text/plain',
    scan: { state: 'waiting' } as Scan,
  } as OriginalRecord
  const results: Array<Scan | undefined> = []
  let record = stored
  const scans = createScans({
    scanner: { plugin: { name: 'test', scan }, options: {} },
    jobs: {
      work(_kind, work) {
        handler = work as JobHandler<unknown>
      },
    },
    presentClient: async () => client,
    index: { find: () => expect.fail('the record is stored') } as never,
    // As two runs at once see it: neither has its result yet.
    originals: { resolve: async () => ({ name: { key }, record: stored }) as never },
    buckets: { of: () => ({ find: async () => file }) } as never,
    annotate: async ({ change }) => {
      record = change(record)
      return { name: { key }, record } as never
    },
    removals: { remove: async () => expect.fail('no file is removed') },
    originalEvents: { scanned: (_client, _record, result) => void results.push(result) },
    metrics: { scanned() {} },
    log: recordLog(),
  })
  scans.work()
  const run = () =>
    handler?.({ data: { clientId: client.id, key }, attempt: 1, kind: 'scan', id: key } as never, {
      signal: new AbortController().signal,
      progress() {},
      retryInMs: undefined,
    })
  return { run, results, result: () => record.scan }
}

describe('a malware scan', () => {
  const text = () => Readable.from([Buffer.from('a text')])

  it('that runs twice at once with two results leaves the file infected', async () => {
    for (const order of [
      ['infected', 'clean'],
      ['clean', 'infected'],
    ]) {
      const verdicts = [...order]
      const scans = scansOf(async () => (verdicts.shift() === 'clean' ? { state: 'clean' } : infected), text)
      await scans.run()
      await scans.run()
      expect(scans.result(), order.join()).to.deep.equal(infected)
      expect(scans.results.at(-1), order.join()).to.deep.equal(infected)
    }
  })

  it('closes a stream that the plugin has not read, and survives its error', async () => {
    const opened = text()
    const scans = scansOf(
      async (file) => {
        const bytes = await file.open()
        bytes.emit('error', new Error('the bucket is away'))
        return { state: 'clean' }
      },
      () => opened,
    )
    await scans.run()
    expect(scans.result()).to.deep.equal({ state: 'clean' })
    expect(opened.destroyed).to.equal(true)
  })
})

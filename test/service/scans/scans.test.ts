import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Client } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { FileToScan, Verdict } from '../../../src/core/plugin-api/scanner.ts'
import type { OriginalRecord } from '../../../src/core/ports/file-index.ts'
import { type JobHandler, NotYet } from '../../../src/core/ports/jobs.ts'
import type { Scan } from '../../../src/core/storage/scan.ts'
import { createScans } from '../../../src/service/scans/scans.ts'
import { rejection } from '../../support/rejection.ts'
import { recordLog } from '../../support/texts/recorded-log.ts'

const client = { id: 'first' } as Client
const key = storedKey('text/txt/AAAAAAAAAAAAAAAAAAAAAA.txt')
const infected: Verdict = { state: 'infected', signature: 'Test.Signature' }

/** Runs the job of one waiting file, as often as a test calls `run`. */
function scansOf(
  scan: (file: FileToScan) => Promise<Verdict>,
  { bytes = text, remove = async () => {}, isPending = (): boolean => false } = {},
) {
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
    index: {
      find: async () => ({
        original: isPending() ? { state: 'pending', leaseUntil: Date.now() + 60_000 } : { state: 'stored' },
      }),
    } as never,
    // As two runs at once see it: neither has its result yet.
    originals: { resolve: async () => ({ name: { key }, record: stored }) as never },
    buckets: { of: () => ({ find: async () => file }) } as never,
    annotate: async ({ change }) => {
      record = change(record)
      return { name: { key }, record } as never
    },
    removals: { remove: remove as never },
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

const text = () => Readable.from([Buffer.from('a text')])

describe('a malware scan', () => {
  it('that runs twice at once with two results leaves the file infected', async () => {
    for (const order of [
      ['infected', 'clean'],
      ['clean', 'infected'],
    ]) {
      const verdicts = [...order]
      const scans = scansOf(async () => (verdicts.shift() === 'clean' ? { state: 'clean' } : infected))
      await scans.run()
      await scans.run()
      expect(scans.result(), order.join()).to.deep.equal(infected)
      expect(scans.results.at(-1), order.join()).to.deep.equal(infected)
    }
  })

  it('does not complete the upload of its file, which may still fail', async () => {
    let isPending = true
    const scans = scansOf(async () => ({ state: 'clean' }), { isPending: () => isPending })
    expect(await rejection(Promise.resolve(scans.run()))).to.be.instanceOf(NotYet)
    expect(scans.result()).to.deep.equal({ state: 'waiting' })
    isPending = false
    await scans.run()
    expect(scans.result()).to.deep.equal({ state: 'clean' })
  })

  it('that could not remove an infected file is repeated until it can, and the file remains infected', async () => {
    let tries = 0
    const scans = scansOf(async () => ({ ...infected, remove: true }), {
      async remove() {
        tries += 1
        if (tries === 1) throw new Error('forbidden')
      },
    })
    expect(await rejection(Promise.resolve(scans.run()))).to.have.property('message', 'forbidden')
    expect(scans.result()).to.deep.equal(infected)
    await scans.run()
    expect(tries).to.equal(2)
  })

  it('closes a stream that the plugin has not read, and survives its error', async () => {
    const opened = text()
    const scans = scansOf(
      async (file) => {
        const bytes = await file.open()
        bytes.emit('error', new Error('the bucket is away'))
        return { state: 'clean' }
      },
      { bytes: () => opened },
    )
    await scans.run()
    expect(scans.result()).to.deep.equal({ state: 'clean' })
    expect(opened.destroyed).to.equal(true)
  })
})

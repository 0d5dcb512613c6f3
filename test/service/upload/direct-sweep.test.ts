import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Client } from '../../../src/core/clients/client.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { resumablePiece } from '../../../src/core/files/resumable-key.ts'
import type { ClientStore } from '../../../src/core/ports/client-store.ts'
import { createSweepPuts } from '../../../src/service/maintenance/sweep-partial-writes.ts'
import { finishLimitMs, firstPartMs } from '../../../src/service/upload/direct/times.ts'
import { createResumablePieces } from '../../../src/service/upload/pieces.ts'
import { readResumable, writeResumable } from '../../../src/service/upload/resumable-record.ts'
import type { Storing } from '../../../src/service/upload/storing.ts'
import { createSweepResumables } from '../../../src/service/upload/sweep-resumables.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../support/backends.ts'
import { eventually } from '../../support/eventually.ts'
import { noise } from '../../support/requests/tus.ts'
import { recordLog, startService } from '../../support/service.ts'
import { begunDirect, completeDirect, putAll, recordOf } from '../../support/stored/direct-uploads.ts'

const GIB = 1024 ** 3
const HOUR_MS = 3_600_000
const BYTES = noise(5000)

describe('the sweep of large direct uploads', function () {
  this.timeout(60_000)
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))
  const clients = { find: (id: string) => ({ id }) as Client, list: () => [] } as unknown as ClientStore

  it('lets them continue for as long as they have a record, and ends others', async () => {
    const service = await start()
    const { buckets } = service.storage
    const bucket = buckets.of({ id: 'first', token: '' })
    const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length })
    const ref = { clientId: 'first', id: '1111111111111111111111' }
    const { key } = resumablePiece(ref, { start: 0, end: 5 })
    await bucket.permitPut?.(key, { size: 5, expiresInSeconds: 60 })
    // All of them are older.
    const sweep = createSweepPuts({ buckets, bucket, clients, log: recordLog(), oldestPutMs: -60_000 })
    expect(await sweep()).to.equal(1)
    await putAll(begun, BYTES)
    expect(recordOf(await completeDirect(service, begun)).size).to.equal(BYTES.length)
  })

  it('does not wait for a large file that it stores, and stores each once', async () => {
    const service = await start()
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    const pieces = createResumablePieces(bucket)
    const ref = { clientId: 'first', id: '1111111111111111111111' }
    const finished: string[] = []
    let end = () => {}
    const storing: Pick<Storing, 'finish' | 'endOf'> = {
      endOf: async () => Number.POSITIVE_INFINITY,
      finish(_client, { id }) {
        finished.push(id)
        return new Promise((resolve) => {
          end = () => resolve(storedKey('image/png/7uLqEUXG4WpoGGa38h2U9Z.png'))
        })
      },
    }
    const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length })
    const record = await readResumable(bucket, { ...ref, id: begun.id })
    if (!record?.direct) throw new Error('no record')
    const { key } = resumablePiece(ref, { start: 0, end: BYTES.length })
    await bucket.put(key, Readable.from([BYTES]), { mediaType: 'a/b' })
    await writeResumable(bucket, ref, { ...record, direct: { ...record.direct, isComplete: true } })
    let at = 0
    const options = { bucket, clients, storing, pieces, expireMs: HOUR_MS, log: recordLog() }
    const sweep = createSweepResumables({ ...options, largeBytes: BYTES.length, now: () => at })
    expect(await sweep()).to.equal(0)
    at += HOUR_MS
    expect(await sweep()).to.equal(0)
    expect(finished).to.deep.equal([ref.id])
    end()
    await eventually(async () => {
      at += HOUR_MS
      await sweep()
      expect(finished).to.deep.equal([ref.id, ref.id])
    })
    end()
  })
})

describe('the time of a direct upload', () => {
  it('grows with its size', () => {
    expect(finishLimitMs({ size: 78 * GIB })).to.equal(HOUR_MS)
    expect(finishLimitMs({ size: 780 * GIB })).to.equal(10 * HOUR_MS)
    expect(firstPartMs({ size: 3 * GIB })).to.equal(600_000)
    expect(firstPartMs({ size: 31.25 * GIB })).to.equal(6_000_000)
    expect(firstPartMs({ size: 5120 * GIB })).to.equal(33 * 600_000)
  })
})

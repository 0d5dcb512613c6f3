import { Readable } from 'node:stream'
import { expect } from 'chai'
import type { Asset } from '../../../../src/core/bytes/asset.ts'
import type { Client } from '../../../../src/core/clients/client.ts'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { resumablePiece, resumableRecordKey } from '../../../../src/core/files/resumable-key.ts'
import type { Bucket } from '../../../../src/core/ports/bucket.ts'
import type { ClientStore } from '../../../../src/core/ports/client-store.ts'
import type { Locks, ShareOptions } from '../../../../src/core/ports/locks.ts'
import { unavailable } from '../../../../src/core/problem.ts'
import { createSweepPuts } from '../../../../src/service/maintenance/sweep-partial-writes.ts'
import { createAssemble } from '../../../../src/service/upload/direct/assemble.ts'
import { finishLimits, firstPartMs, longestUploadMs } from '../../../../src/service/upload/direct/times.ts'
import { createResumablePieces } from '../../../../src/service/upload/resumable/pieces.ts'
import { readResumable, writeResumable } from '../../../../src/service/upload/resumable/resumable-record.ts'
import { createStoring, type Storing } from '../../../../src/service/upload/resumable/storing.ts'
import { createSweepResumables } from '../../../../src/service/upload/resumable/sweep-resumables.ts'
import { S3_EMBEDDED, stoppedAtTheEnd } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import { rejection } from '../../../support/rejection.ts'
import { recordLog, startService } from '../../../support/service.ts'
import { begunDirect, completeDirect, putAll, recordOf } from '../../../support/stored/direct-uploads.ts'
import { noise } from '../../../support/stored/noise.ts'

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
    const unreadable = { ...ref, id: '0000000000000000000000' }
    const other = resumablePiece(unreadable, { start: 0, end: 5 })
    await bucket.permitPut?.(other.key, { size: 5, expiresInSeconds: 60 })
    await bucket.put(resumableRecordKey(unreadable), Readable.from([Buffer.from('{}')]), { mediaType: 'a/b' })
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
    const ends: Array<() => void> = []
    let own = ''
    const storing: Pick<Storing, 'finish' | 'isStoring' | 'endOf' | 'expire'> = {
      isStoring: ({ id }) => id === own,
      endOf: async () => ({ at: Number.POSITIVE_INFINITY, isJoined: false }),
      expire: async () => false,
      finish(_client, { id }) {
        finished.push(id)
        return new Promise((resolve) => {
          ends.push(() => resolve(storedKey('image/png/7uLqEUXG4WpoGGa38h2U9Z.png')))
        })
      },
    }
    const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length })
    const record = await readResumable(bucket, { ...ref, id: begun.id })
    if (!record?.direct) throw new Error('no record')
    const complete = { ...record, direct: { ...record.direct, isComplete: true as const } }
    await writeResumable(bucket, ref, complete)
    let at = 0
    const options = { bucket, clients, storing, pieces, expireMs: HOUR_MS, log: recordLog() }
    const sweep = createSweepResumables({ ...options, largeBytes: BYTES.length, now: () => at })
    expect(await sweep()).to.equal(0)
    at += HOUR_MS
    expect(await sweep()).to.equal(0)
    expect(finished).to.deep.equal([ref.id])
    // Two at a time, in addition to those of requests.
    const [second, third, fourth] = ['2', '3', '4'].map((digit) => digit.repeat(22))
    own = second ?? ''
    for (const id of [second, third, fourth]) await writeResumable(bucket, { ...ref, id: id ?? '' }, complete)
    at += HOUR_MS
    await sweep()
    // The third or the fourth one, which are looked at together.
    expect(finished).to.have.lengthOf(2).and.not.include(own)
    for (const end of ends.splice(0)) end()
    await eventually(async () => {
      await sweep()
      expect(finished).to.include.members([third, fourth])
    })
    for (const end of ends.splice(0)) end()
  })
})

describe('a large direct upload that cannot be stored', function () {
  this.timeout(60_000)
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))

  it('is tried again some time after the end of the last attempt, however long that took', async () => {
    const service = await start()
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length })
    const ref = { clientId: 'first', id: begun.id }
    const record = await readResumable(bucket, ref)
    if (!record?.direct) throw new Error('no record')
    await writeResumable(bucket, ref, { ...record, direct: { ...record.direct, isComplete: true } })
    const failing: Array<() => void> = []
    const storing = {
      isStoring: () => false,
      endOf: async () => ({ at: Number.POSITIVE_INFINITY, isJoined: false }),
      expire: async () => false,
      finish: () =>
        new Promise<never>((_resolve, reject) => {
          failing.push(() => reject(unavailable('failed')))
        }),
    }
    const clients = { find: (id: string) => ({ id }) as Client } as unknown as ClientStore
    let at = 0
    const log = recordLog()
    const sweep = createSweepResumables({
      ...{ bucket, clients, storing, pieces: createResumablePieces(bucket), log },
      ...{ expireMs: HOUR_MS, largeBytes: BYTES.length, now: () => at },
    })
    await sweep()
    at += 10 * HOUR_MS
    failing[0]?.()
    await eventually(async () => expect(log.lines).to.have.lengthOf(1))
    at += 1_200_000 - 1
    await sweep()
    expect(failing).to.have.lengthOf(1)
    at += 1
    await sweep()
    expect(failing).to.have.lengthOf(2)
  })
})

describe('the end of a direct upload', () => {
  const ref = { clientId: 'first', id: '1111111111111111111111' }
  const DAY_MS = 24 * HOUR_MS
  const idleMs = 25 * HOUR_MS
  const record = {
    fileId: ref.id,
    ...{ createdAt: 0, size: 100 * GIB, originalName: '', folder: '' },
    direct: { uploadId: 'x', until: idleMs },
  }
  const endOf = (bucket: Partial<Bucket>) =>
    createAssemble({ bucket: bucket as Bucket, expireMs: DAY_MS, now: () => 2 * DAY_MS }).endOf(ref, record)
  const hardEnd = (100 * GIB) / 1000 + idleMs

  it('is moved by each part, but not for ever', async () => {
    const partAt = (at: number) => ({ partsOf: async () => [{ number: 1, size: 1, etag: '', at }] })
    expect(await endOf(partAt(DAY_MS))).to.deep.equal({ at: DAY_MS + idleMs, isJoined: false })
    expect(await endOf(partAt(30 * DAY_MS))).to.deep.equal({ at: hardEnd, isJoined: false })
  })

  it('does not come for one whose parts are joined', async () => {
    const partsOf = async () => []
    expect(await endOf({ partsOf, find: async () => ({}) as Asset })).to.include({ isJoined: true })
    expect(await endOf({ partsOf, find: async () => undefined })).to.deep.equal({
      at: idleMs,
      isJoined: false,
    })
  })

  it('comes without the permission to list parts, but not by an outage', async () => {
    const failing = (cause?: Error) => ({
      partsOf: () => Promise.reject(unavailable('failed', { cause })),
      find: async () => undefined,
    })
    const refused = Object.assign(new Error(), { name: 'AccessDenied' })
    expect(await endOf(failing(refused))).to.deep.equal({ at: hardEnd, isJoined: false })
    expect(await rejection(endOf(failing()))).to.have.property('status', 503)
  })
})

describe('the sweep of old direct uploads', function () {
  this.timeout(60_000)
  const start = stoppedAtTheEnd((options) => startService({ backend: S3_EMBEDDED, ...options }))

  it('stores one whose parts are joined, and deletes one that has expired under the lock of a complete', async () => {
    const service = await start()
    const bucket = service.storage.buckets.of({ id: 'first', token: '' })
    const begun = await begunDirect(service, { name: 'a.bin', size: BYTES.length })
    const calls: string[] = []
    let isJoined = true
    const storing = {
      isStoring: () => false,
      endOf: async () => ({ at: 0, isJoined }),
      async finish() {
        calls.push('finish')
        return storedKey('image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
      },
      async expire() {
        calls.push('expire')
        return false
      },
    }
    const clients = { find: (id: string) => ({ id }) as Client } as unknown as ClientStore
    const options = { bucket, clients, storing, pieces: createResumablePieces(bucket), log: recordLog() }
    let at = 1
    const sweep = createSweepResumables({ ...options, expireMs: HOUR_MS, now: () => at })
    await sweep()
    isJoined = false
    at += HOUR_MS
    await sweep()
    expect(calls).to.deep.equal(['finish', 'expire'])
    expect(await readResumable(bucket, { clientId: 'first', id: begun.id })).not.to.equal(undefined)
  })
})

/** The limits under which the file of a direct upload of this size is stored. */
async function limitsOf(size: number) {
  let limits: ShareOptions | undefined
  const locks: Locks = {
    share(_name, _work, options) {
      limits = options
      return Promise.reject(new Error('locked'))
    },
  }
  type Options = Parameters<typeof createStoring>[0]
  const { finish } = createStoring({ locks, expireMs: HOUR_MS } as Options)
  await rejection(finish({ id: 'first' } as Client, { clientId: 'first', id: '1' }, { size }))
  return limits && { limitMs: limits.limitMs, leaseMs: limits.leaseMs }
}

describe('the time of a direct upload', () => {
  it('grows with its size', async () => {
    expect(await limitsOf(3 * GIB)).to.deep.equal({ limitMs: HOUR_MS, leaseMs: undefined })
    expect(await limitsOf(78 * GIB)).to.deep.equal({ limitMs: HOUR_MS, leaseMs: 90_000 })
    expect(await limitsOf(780 * GIB)).to.deep.equal({ limitMs: 10 * HOUR_MS, leaseMs: 90_000 })
    expect(firstPartMs({ size: 3 * GIB })).to.equal(600_000)
    expect(firstPartMs({ size: 6.25 * GIB })).to.equal(1_200_000)
    expect(firstPartMs({ size: 5120 * GIB })).to.equal(HOUR_MS)
  })

  it('and that of storing it are together no longer than the uses of its link are remembered', () => {
    const size = 5120 * GIB
    const hardEnd = size / 1000 + 25 * HOUR_MS
    const kept = longestUploadMs({ maxBytes: size, directMaxBytes: size, expireMs: 24 * HOUR_MS })
    expect(kept).to.be.at.least(hardEnd + finishLimits({ size }).limitMs)
    // On a disk, they are remembered for hours.
    const onDisk = longestUploadMs({ maxBytes: 5 * GIB, directMaxBytes: 0, expireMs: 24 * HOUR_MS })
    expect(onDisk).to.equal(27 * HOUR_MS)
  })
})

import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { CreateMultipartUploadCommand, GetObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'chai'
import { FIRST_CLIENT_ID } from '../../../../src/core/clients/client.ts'
import { derivativeKey } from '../../../../src/core/files/object-key.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { eventually } from '../../../support/eventually.ts'
import { inTime } from '../../../support/promised.ts'
import { rejection } from '../../../support/rejection.ts'
import { type Fate, type SeenRequest, s3Proxy } from '../../../support/servers/s3-proxy.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { bytesOf, digestOf, KEY, MIB, onS3, PART, put, text, USUAL, VIDEO } from '../s3-setup.ts'

/** What a request of an upload is for. */
function stepOf({ method, query }: SeenRequest): string {
  if (method === 'POST') return query.has('uploads') ? 'begin' : 'complete'
  if (method === 'DELETE') return 'abort'
  return query.has('partNumber') ? `part ${query.get('partNumber')}` : 'whole'
}

describe('s3: uploads', () => {
  const s3 = onS3()
  const steps = () => s3.proxy.seen.filter(({ method }) => !['GET', 'HEAD'].includes(method)).map(stepOf)
  /** Two parts, and in the long run three. The last of them is small. */
  const LARGE = sized(PART, 2 * PART) + MIB
  const large = () => bytesOf(LARGE)
  const silentAfter = (size: number) => bytesOf(size, { atEnd: () => {} })

  describe('store the bytes of', () => {
    // More parts are read back in the long run, and by test/process/memory.
    const usual: ReadonlyArray<readonly [what: string, size: number, parts: number]> = [
      ['one part', PART, 1],
      ['one part and a byte', PART + 1, 2],
    ]
    const others: typeof usual = [
      ['two parts', 2 * PART, 2],
      ['one part less a byte', PART - 1, 1],
      ['17 MiB', 17 * MIB, 3],
    ]
    for (const [what, size, parts] of sized(usual, [...usual, ...others])) {
      it(`${what}, ${parts === 1 ? 'sent at once' : `sent as ${parts} parts`}`, async () => {
        const { source, digest } = bytesOf(size)
        await put(s3.bucket, VIDEO, source, { mediaType: 'video/mp4' })
        const asset = await s3.bucket.find(VIDEO)
        if (!asset) throw new Error('nothing is there')
        expect(asset).to.include({ size, mediaType: 'video/mp4' })
        expect(await digestOf(await asset.open())).to.equal(digest())
        expect(await digestOf(await asset.open({ range: { start: PART - 5, end: size - 1 } }))).to.equal(
          await digestOf(Readable.from([await tail(size, PART - 5)])),
        )
        const numbers = Array.from({ length: parts }, (_, i) => `part ${i + 1}`)
        const expected = parts === 1 ? ['whole'] : ['begin', ...numbers, 'complete']
        // The parts arrive in whichever order.
        expect(steps().sort()).to.deep.equal(expected.sort())
      })
    }

    /** The bytes from `start` on. */
    async function tail(size: number, start: number): Promise<Buffer> {
      const all: Buffer[] = []
      for await (const piece of bytesOf(size).source) all.push(piece)
      return Buffer.concat(all).subarray(start)
    }
  })

  // In `npm test`, test/process/memory has a large file.
  itLong('hold a few parts in memory, whatever the size of the file', async () => {
    const size = 160 * MIB
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const piece = Buffer.alloc(64 * 1024, 'x')
    async function* source() {
      for (let sent = 0; sent < size; sent += piece.length) {
        if (sent % MIB === 0) most = Math.max(most, process.memoryUsage().arrayBuffers - before)
        yield piece
      }
    }
    await put(s3.bucket, VIDEO, Readable.from(source(), { objectMode: false }))
    expect((await s3.bucket.find(VIDEO))?.size).to.equal(size)
    // What is no longer used lives on until it is collected.
    expect(most / MIB).to.be.below(96)
    await s3.bucket.delete([VIDEO])
  })

  itLong('may take longer than S3 may be silent, as long as bytes move', async () => {
    const bucket = (await s3.open(USUAL)).of({ id: FIRST_CLIENT_ID, token: '' })
    // 4.5 s for the part.
    const slow: Fate = { kind: 'pass', sent: { bytesPerSecond: 1.8 * MIB } }
    s3.proxy.decide((request) => (stepOf(request) === 'whole' ? slow : undefined))
    const { source, digest } = bytesOf(PART)
    await put(bucket, VIDEO, source)
    const asset = await bucket.find(VIDEO)
    expect(asset && (await digestOf(await asset.open()))).to.equal(digest())
  })

  it('read no further ahead than they can send', async () => {
    s3.proxy.decide((request) => (stepOf(request).startsWith('part') ? { kind: 'stall' } : undefined))
    let given = 0
    const source = new Readable({
      read() {
        given += 64 * 1024
        this.push(Buffer.alloc(64 * 1024))
      },
    })
    const usual = (await s3.open(USUAL)).of({ id: FIRST_CLIENT_ID, token: '' })
    await rejection(put(usual, VIDEO, source))
    expect(given).to.be.within(2 * PART, 3 * PART)
  })

  describe('that fail leave no object and no part', () => {
    const STEPS = {
      begin: 'is begun',
      'part 1': 'sends its first part',
      'part 2': 'sends its second part',
      'part 3': 'sends its last part',
    }
    const atStep = (step: string, fate: () => Fate | undefined) =>
      s3.proxy.decide((request) => (stepOf(request) === step ? fate() : undefined))
    const nothingIsLeft = async (before?: string) => {
      // Checked as soon as the put has rejected: no work may continue after that.
      expect(await s3.openUploads()).to.deep.equal([])
      expect(await text(s3.bucket, VIDEO)).to.equal(before)
      expect(steps().filter((step) => step === 'complete')).to.deep.equal([])
    }

    const tried = Object.entries(STEPS).filter(([name]) => sized(!/1|3/.test(name), true))

    for (const [step, what] of tried) {
      it(`when the signal aborts while the upload ${what}`, async () => {
        await put(s3.bucket, VIDEO, 'as it was')
        const controller = new AbortController()
        atStep(step, () => {
          controller.abort()
          return undefined
        })
        const { source } = large()
        const error = await rejection(put(s3.bucket, VIDEO, source, { signal: controller.signal }))
        await nothingIsLeft('as it was')
        expect(error).to.have.property('name', 'AbortError')
        expect(source.destroyed).to.equal(true)
      })

      it(`when S3 refuses while the upload ${what}`, async () => {
        atStep(step, () => ({ kind: 'answer', status: 403 }))
        const { source } = large()
        expect(await rejection(put(s3.bucket, VIDEO, source))).to.have.property('status', 503)
        await nothingIsLeft()
        expect(source.destroyed).to.equal(true)
      })
    }

    for (const step of ['begin', 'part 1'] as const) {
      it(`when the source fails while the upload ${STEPS[step]}`, async () => {
        const reason = new Problem({ status: 413, code: 'too_large', detail: 'the source says no' })
        const { source } = silentAfter(PART + MIB)
        atStep(step, () => {
          source.destroy(reason)
          return undefined
        })
        expect(await rejection(put(s3.bucket, VIDEO, source))).to.equal(reason)
        await nothingIsLeft()
      })

      it(`when S3 refuses while the upload ${STEPS[step]} and the source is silent`, async () => {
        atStep(step, () => ({ kind: 'answer', status: 403 }))
        const { source } = silentAfter(PART + MIB)
        expect(await rejection(put(s3.bucket, VIDEO, source))).to.have.property('status', 503)
        await nothingIsLeft()
        expect(source.destroyed).to.equal(true)
      })
    }

    for (const size of [MIB, PART, PART + MIB]) {
      it(`when the signal aborts at the moment when the source ends, after ${size / MIB} MiB`, async () => {
        const controller = new AbortController()
        const { source } = bytesOf(size)
        source.once('end', () => controller.abort())
        const storing = put(s3.bucket, VIDEO, source, { signal: controller.signal })
        expect(await rejection(storing)).to.have.property('name', 'AbortError')
        await nothingIsLeft()
        expect(steps()).not.to.include('whole')
      })
    }

    it('when S3 refuses to complete the upload', async () => {
      atStep('complete', () => ({ kind: 'answer', status: 403 }))
      expect(await rejection(put(s3.bucket, VIDEO, large().source))).to.have.property('status', 503)
      expect(await s3.openUploads()).to.deep.equal([])
      expect(await s3.names()).to.deep.equal([])
    })

    itLong('when a part stalls', async () => {
      atStep('part 2', () => ({ kind: 'pass', sent: { afterBytes: MIB, by: 'stall' } }))
      const usual = (await s3.open(USUAL)).of({ id: FIRST_CLIENT_ID, token: '' })
      const error = await inTime('put', rejection(put(usual, VIDEO, large().source)))
      expect(error).to.have.property('status', 503)
      await nothingIsLeft()
    })

    itLong('when the connection closes again and again during parts', async () => {
      let cut = 0
      atStep('part 1', () => {
        cut += 1
        return { kind: 'pass', sent: { afterBytes: MIB, by: 'reset' } }
      })
      expect(await rejection(put(s3.bucket, VIDEO, large().source))).to.have.property('status', 503)
      expect(cut).to.equal(3)
      await nothingIsLeft()
    })

    it('and no connection', async () => {
      const own = await s3Proxy(s3.server.connection.endpoint)
      const bucket = (await s3.open({ endpoint: own.endpoint })).of({ id: FIRST_CLIENT_ID, token: '' })
      for (const [step] of tried) {
        const controller = new AbortController()
        own.decide((request) => {
          if (stepOf(request) === step) controller.abort()
          return undefined
        })
        await rejection(put(bucket, VIDEO, large().source, { signal: controller.signal }))
      }
      // One is kept for the next call, and one for the next part; what was under way is broken off.
      await eventually(async () => expect(await own.connections()).to.be.at.most(2))
      await own.close()
    })
  })

  describe('whose signal aborts while S3 completes them', () => {
    for (const [step, file] of [
      ['whole', () => bytesOf(PART)],
      ['complete', () => large()],
    ] as const) {
      it(`are stored: ${step}`, async () => {
        const controller = new AbortController()
        s3.proxy.decide((request) => {
          if (stepOf(request) === step) controller.abort()
          return undefined
        })
        const { source, digest } = file()
        await put(s3.bucket, VIDEO, source, { signal: controller.signal })
        const asset = await s3.bucket.find(VIDEO)
        expect(asset && (await digestOf(await asset.open()))).to.equal(digest())
      })
    }
  })

  describe('continue after', () => {
    const usual: Record<string, Fate> = {
      'a reset in the middle of what is sent': { kind: 'pass', sent: { afterBytes: 1000, by: 'reset' } },
    }
    const others: typeof usual = {
      'a lost answer': { kind: 'pass', lost: true },
      'a 503': { kind: 'answer', status: 503 },
      'a 500': { kind: 'answer', status: 500 },
      'a reset': { kind: 'reset' },
    }
    for (const [what, fate] of Object.entries(sized(usual, { ...usual, ...others }))) {
      it(`${what} at each step`, async () => {
        const met = new Set<string>()
        s3.proxy.decide((request) => {
          const step = stepOf(request)
          if (met.has(step) || request.method === 'HEAD') return undefined
          met.add(step)
          return fate
        })
        for (const { source, digest } of [bytesOf(MIB), large()]) {
          await put(s3.bucket, VIDEO, source)
          const { client } = s3.server
          const { Body } = await client.send(new GetObjectCommand({ Bucket: s3.name, Key: VIDEO }))
          expect(await digestOf(Body as Readable)).to.equal(digest())
        }
        const parts = sized(['part 1', 'part 2'], ['part 1', 'part 2', 'part 3'])
        expect([...met].sort()).to.deep.equal(['begin', 'complete', ...parts, 'whole'])
      })
    }
  })

  it('report that the store is full', async () => {
    const body = '<Error><Code>QuotaExceeded</Code><Message>no</Message></Error>'
    s3.proxy.decide(() => ({ kind: 'answer', status: 403, body }))
    const error = await rejection(put(s3.bucket, KEY, 'x'))
    expect(error).to.be.instanceOf(Problem).with.property('code', 'storage_full')
  })

  it('have a length, and no header that older stores do not know', async () => {
    await put(s3.bucket, VIDEO, bytesOf(PART + 1).source)
    for (const { headers, method } of s3.proxy.seen) {
      expect(headers).not.to.have.property('expect')
      expect(Object.keys(headers).filter((name) => /checksum|trailer/.test(name))).to.deep.equal([])
      if (method === 'PUT') expect(Number(headers['content-length'])).to.be.above(0)
    }
  })

  describe('of a killed process', () => {
    const begin = async (Key: string) => {
      await s3.server.client.send(new CreateMultipartUploadCommand({ Bucket: s3.name, Key }))
    }

    it('are swept when they are old enough, in the roots of all clients', async () => {
      const theirs = `.sluice/roots/2zq/${VIDEO}`
      const ofBackups = [`objects/ab/${'ab'.repeat(32)}`, 'manifests/2026-11-28T10-00-00.000Z.jsonl.gz']
      for (const name of [VIDEO, derivativeKey(VIDEO, 'w=1'), theirs, ...ofBackups]) await begin(name)
      await put(s3.bucket, KEY, 'x')
      expect(await s3.buckets.sweep(60_000)).to.equal(0)
      expect(await s3.openUploads()).to.have.length(5)
      // Begun in another millisecond than this.
      await pause(10)
      expect(await s3.buckets.sweep(0)).to.equal(5)
      expect(await s3.openUploads()).to.deep.equal([])
      expect(await s3.names()).to.deep.equal([KEY])
    })

    it('are aborted by the prefix of their key, in the root of their client', async () => {
      const theirs = s3.buckets.of({ id: '2zq', token: 'pub_2zq' })
      const names = [VIDEO, derivativeKey(VIDEO, 'w=1'), KEY, `.sluice/roots/2zq/${VIDEO}`]
      for (const name of names) await begin(name)
      await s3.bucket.abortPuts(VIDEO)
      expect(await s3.openUploads()).to.deep.equal([`.sluice/roots/2zq/${VIDEO}`, KEY])
      await theirs.abortPuts(VIDEO)
      expect(await s3.openUploads()).to.deep.equal([KEY])
    })

    it('are distinguished from uploads of other programs, which remain', async () => {
      const others = ['backup.tar', `photosx/${VIDEO}`, 'photos/video/mp4/holiday.mp4', VIDEO]
      for (const name of [...others, `photos/${VIDEO}`]) await begin(name)
      await pause(10)
      expect(await (await s3.open({ prefix: 'photos' })).sweep(0)).to.equal(1)
      expect(await s3.openUploads()).to.deep.equal([...others].sort())
    })

    it('are swept on all pages, also when another process sweeps at the same time', async () => {
      // What the first page shows, another has aborted since.
      const page = `<ListMultipartUploadsResult>
        <IsTruncated>true</IsTruncated><NextKeyMarker>a</NextKeyMarker><NextUploadIdMarker>b</NextUploadIdMarker>
        <Upload><Key>${VIDEO}</Key><UploadId>2~gone</UploadId><Initiated>2001-01-01T00:00:00Z</Initiated></Upload>
      </ListMultipartUploadsResult>`
      s3.proxy.decide(({ query }) =>
        query.has('uploads') && !query.has('key-marker')
          ? { kind: 'answer', status: 200, headers: { 'content-type': 'application/xml' }, body: page }
          : undefined,
      )
      await begin(VIDEO)
      await pause(10)
      expect(await s3.buckets.sweep(0)).to.equal(1)
      const [, , second] = s3.proxy.seen
      expect(second?.query.get('key-marker')).to.equal('a')
      expect(second?.query.get('upload-id-marker')).to.equal('b')
      expect(await s3.openUploads()).to.deep.equal([])
    })
  })

  it('whose abort fails report their own error, and are swept', async () => {
    const reason = new Error('the source says no')
    const { source } = bytesOf(LARGE, { atEnd: () => source.destroy(reason) })
    s3.proxy.decide((request) => (stepOf(request) === 'abort' ? { kind: 'answer', status: 503 } : undefined))
    expect(await rejection(put(s3.bucket, VIDEO, source))).to.equal(reason)
    expect(await s3.openUploads()).to.deep.equal([VIDEO])
    s3.proxy.decide(() => undefined)
    expect(await s3.buckets.sweep(0)).to.equal(1)
  })
})

import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Asset } from '../../../../src/core/bytes/asset.ts'
import { fileNotFound } from '../../../../src/core/problem.ts'
import { onOneBackend } from '../../../support/backends.ts'
import { eventually } from '../../../support/eventually.ts'
import { watchedEngine } from '../../../support/media/engines.ts'
import { picture } from '../../../support/media/images.ts'
import { downloader } from '../../../support/peers/downloader.ts'
import { entriesOf, manifestOf } from '../../../support/requests/archive.ts'
import { postZip, uploadOne, type WireRecord } from '../../../support/requests/client.ts'
import { exchange, openSocket } from '../../../support/requests/exchange.ts'
import type { Service } from '../../../support/service.ts'
import { sized } from '../../../support/sized.ts'
import { breakable } from '../../../support/stored/breakable.ts'
import { noise } from '../../../support/stored/noise.ts'

const LARGE = 4_000_000
// As the beginning of an MP3 file, which an archive does not compress. Zeros are those of a file of no known format.
const INCOMPRESSIBLE = Buffer.from('494433040000000000000000', 'hex')
const COMPRESSIBLE = Buffer.alloc(16)

/** Random bytes with a certain beginning: those of some format could be at the beginning of random bytes. */
function file(beginning: Buffer, size = LARGE): Buffer {
  return Buffer.concat([beginning, randomBytes(size - beginning.length)])
}

/**
 * As for a file that was truncated after its size was read: it ends early, without an error. So early that an archive
 * that resumes it three times has no more than half of it.
 */
function cut(asset: Asset, bytes: Readable): Readable {
  return Readable.from(
    (async function* () {
      let left = Math.floor(asset.size / 8)
      for await (const chunk of bytes as AsyncIterable<Buffer>) {
        yield chunk.subarray(0, left)
        left -= chunk.length
        if (left <= 0) return
      }
    })(),
    { objectMode: false },
  )
}

/** As a disk or a network does: it fails in the middle. */
function failing(asset: Asset, bytes: Readable): Readable {
  return Readable.from(
    (async function* () {
      yield* cut(asset, bytes)
      throw new Error('EIO: i/o error, read /var/lib/sluice/secret-place')
    })(),
    { objectMode: false },
  )
}

// The test breaks the sources itself, above any storage. Streams of S3 that break have tests of their own.
onOneBackend('source files that fail while they are read', (start) => {
  const source = breakable()
  const watched = watchedEngine()
  let service: Service
  let large: WireRecord
  let small: WireRecord
  let incompressible: WireRecord
  let png: WireRecord
  before(async () => {
    service = await start({
      // Each request must read the file.
      env: { ZIP_RATE_LIMIT: '1000', HOT_CACHE_BYTES: '0' },
      wrapStorage: source.wrapStorage,
      engines: [watched.engine],
    })
    large = await uploadOne(service, { name: 'large.bin', bytes: file(COMPRESSIBLE) })
    small = await uploadOne(service, { name: 'small.bin', bytes: file(COMPRESSIBLE, 1000) })
    incompressible = await uploadOne(service, { name: 'large.mp3', bytes: file(INCOMPRESSIBLE) })
    png = await uploadOne(service, { name: 'a.png', bytes: await picture() })
  })
  afterEach(() => {
    source.mend()
    watched.release()
  })

  /** What the log says of failures that are not the caller's. */
  const errors = () => service.log.lines.filter(({ level }) => level === 'error')

  for (const [how, breakage] of Object.entries({ 'ends early': cut, ...sized({}, { fails: failing }) })) {
    describe(`a file that ${how}`, () => {
      it('destroys the connection of an archive in progress, and no other connection', async () => {
        const earlier = errors().length
        source.breaks(LARGE, breakage)
        const before = source.opened
        const files = [
          { path: small.sourceName, type: 'application' },
          { path: large.sourceName, type: 'application' },
          { path: small.sourceName, type: 'application', name: 'after.bin' },
        ]
        const outcome = await postZip(service, { files })
          .then((response) => response.arrayBuffer())
          .catch((error) => error)
        expect(outcome).to.be.an.instanceOf(Error)
        await eventually(() => expect(errors()).to.have.length(earlier + 1))
        // The two small ones, and the large one four times.
        expect(source.opened - before).to.equal(6)
        source.mend()
        const response = await postZip(service, { files })
        expect(entriesOf(Buffer.from(await response.arrayBuffer()))).to.have.length(4)
        await eventually(() => expect(source.open).to.equal(0))
      })

      it('resets the connection of an HTTP/1.0 client, which would take a normal close for a complete response', async () => {
        source.breaks(LARGE, breakage)
        const body = JSON.stringify({ files: [{ path: large.sourceName, type: 'application' }] })
        // Not Node, which takes a reset for an end when it comes together with the last bytes.
        const curl = await downloader('curl')
        const secret = `Authorization: ${service.tokens.secretClientToken}`
        const args = ['--http1.0', '-sS', '-o', 'file', '-H', secret, '-H', 'Content-Type: application/json']
        const { code, said } = await curl.run([...args, '-d', body, `${service.url}/v1/zip`])
        await curl.remove()
        expect(said).to.match(/reset/)
        expect(code).to.equal(56)
      })

      for (const [what, ofFile] of [
        ['an archive that is compressed while it is sent', () => ({ ...large, type: 'application' })],
        ['an archive that is laid out before', () => ({ ...incompressible, type: 'audio' })],
      ] as const)
        it(`is resumed where it failed, up to three times per file, in ${what}`, async () => {
          const { sourceName: path, src, type } = ofFile()
          let times = 0
          source.breaks(LARGE, (asset, bytes) => (times++ < 3 ? breakage(asset, bytes) : bytes))
          const earlier = service.log.lines.length
          const response = await postZip(service, { files: [{ path, type }] })
          const [entry] = entriesOf(Buffer.from(await response.arrayBuffer()))
          expect(entry?.bytes.equals((await exchange(service, src)).body)).to.equal(true)
          expect(times).to.equal(5)
          const told = service.log.lines.slice(earlier).filter(({ level }) => level === 'warn')
          expect(told.map(({ fields }) => fields.times)).to.deep.equal([1, 2, 3])
        })

      it('is omitted from the archive when it is small, with an error in the manifest', async () => {
        source.breaks(1000, breakage)
        const response = await postZip(service, {
          files: [
            { path: small.sourceName, type: 'application' },
            { path: large.sourceName, type: 'application' },
          ],
        })
        const entries = entriesOf(Buffer.from(await response.arrayBuffer()))
        expect(entries.map(({ name }) => name)).to.deep.equal([large.sourceName, '_manifest.json'])
        expect(manifestOf(entries)[0]).to.deep.equal({
          path: small.sourceName,
          name: small.sourceName,
          status: 'error',
          code: 500,
          reason: 'internal error',
        })
      })

      it('destroys the connection of the delivery of a large file', async () => {
        const earlier = errors().length
        source.breaks(LARGE, breakage)
        for (const headers of [{}, { Range: `bytes=0-${LARGE - 1}` }]) {
          const outcome = await exchange(service, large.src, {
            headers,
          }).catch((error) => error)
          expect(outcome).to.be.an.instanceOf(Error)
          expect(outcome.code).to.equal('ECONNRESET')
        }
        await eventually(() => expect(errors()).to.have.length(earlier + 2))
        source.mend()
        expect((await exchange(service, large.src)).body.length).to.equal(LARGE)
      })

      it('responds 500 for a small file, which is read before anything is sent', async () => {
        const earlier = errors().length
        source.breaks(1000, breakage)
        for (const headers of [{}, { Range: 'bytes=0-999' }]) {
          const answer = await exchange(service, small.src, { headers })
          expect(answer.status).to.equal(500)
          expect(answer.headers).to.include({
            'cache-control': 'no-store',
            'content-type': 'application/problem+json',
          })
          expect(answer.headers).not.to.have.any.keys('etag', 'content-range', 'last-modified')
          expect(answer.body.toString()).not.to.match(/EIO|\/var\/lib/)
        }
        expect(errors()).to.have.length(earlier + 2)
        source.mend()
        expect((await exchange(service, small.src)).body.length).to.equal(1000)
      })

      it('stores no derivative', async () => {
        source.breaks(png.size, breakage)
        const { status, body } = await exchange(service, `${png.src}?w=50`)
        // Not 422: it is the storage that fails, before the picture is looked at.
        expect(status).to.equal(500)
        expect(body.toString()).not.to.match(/EIO|\/var\/lib/)
        expect((await service.objects()).filter((name) => name.includes('_w='))).to.deep.equal([])
        source.mend()
        expect((await exchange(service, `${png.src}?w=50`)).status).to.equal(200)
        await eventually(async () =>
          expect((await service.objects()).filter((name) => name.includes('_w='))).to.have.length(1),
        )
        const removed = await exchange(service, `/v1/upload/${png.s3PathOriginal}`, {
          method: 'DELETE',
          headers: { Authorization: service.tokens.secretClientToken },
        })
        expect(removed.status).to.equal(200)
        png = await uploadOne(service, { name: 'a.png', bytes: await picture() })
      })
    })
  }

  it('omits a large file that is deleted before its turn from the archive, with an error in the manifest', async () => {
    source.breaks(LARGE, (_asset, bytes) => {
      bytes.destroy()
      throw fileNotFound()
    })
    const response = await postZip(service, {
      files: [large, small].map(({ sourceName }) => ({
        path: sourceName,
        type: 'application',
        name: 'a.bin',
      })),
    })
    const entries = entriesOf(Buffer.from(await response.arrayBuffer()))
    expect(entries.map(({ name }) => name)).to.deep.equal(['a.bin', '_manifest.json'])
    expect(manifestOf(entries)).to.deep.equal([
      {
        path: large.sourceName,
        name: 'a.bin',
        status: 'error',
        code: 404,
        reason: 'This file does not exist.',
      },
      { path: small.sourceName, name: 'a.bin', status: 'ok', size: 1000 },
    ])
  })

  describe('archives with a slow or disconnected client', () => {
    let huge: WireRecord
    let idled: number
    beforeEach(() => {
      idled = source.idled
    })
    /** At once, by an abort: a source whose reader is idle is closed anyway, after some seconds. */
    const isAborted = () => expect(source.idled).to.equal(idled)
    before(async () => {
      // More than what lies between a server and a client that does not read, and nothing that deflates.
      huge = await uploadOne(service, { name: 'huge.bin', bytes: noise(16_000_000) })
    })

    it('read a few small files ahead of the one being sent', async () => {
      const before = source.opened
      const files = [{ path: huge.sourceName, type: 'application' }]
      for (let i = 0; i < 50; i += 1) files.push({ path: small.sourceName, type: 'application' })
      await leaveArchive(files, async () => {
        await eventually(() => expect(source.opened - before).to.be.above(4))
        await pause(200)
        expect(source.opened - before).to.be.within(5, 8)
      })
      await eventually(() => expect(source.open).to.equal(0))
      isAborted()
    })

    it('read four files at once', async () => {
      let read = () => {}
      const gate = new Promise<void>((done) => {
        read = done
      })
      source.breaks(1000, (_asset, bytes) =>
        Readable.from(
          (async function* () {
            await gate
            yield* bytes
          })(),
          { objectMode: false },
        ),
      )
      const files = Array.from({ length: 50 }, () => ({ path: small.sourceName, type: 'application' }))
      const archive = postZip(service, { files })
      await eventually(() => expect(source.open).to.equal(4))
      await pause(100)
      expect(source.open).to.equal(4)
      read()
      expect(entriesOf(Buffer.from(await (await archive).arrayBuffer()))).to.have.length(51)
    })

    async function leaveArchive(files: object[], after: () => Promise<unknown>): Promise<void> {
      const body = JSON.stringify({ files })
      const socket = await openSocket(service)
      socket.on('error', () => {})
      socket.pause()
      socket.write(
        `POST /v1/zip HTTP/1.1\r\nHost: x\r\nAuthorization: ${service.tokens.secretClientToken}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      )
      await after().finally(() => socket.destroy())
    }

    it('stop rendering derivatives for the archive', async () => {
      const before = { opened: watched.opened, aborted: watched.aborted, errors: errors().length }
      watched.hold()
      await leaveArchive(
        Array.from({ length: 100 }, (_, i) => ({ path: png.sourceName, params: { w: 100 + i, h: 3 } })),
        () => eventually(() => expect(watched.opened).to.be.above(before.opened)),
      )
      await eventually(() => expect(watched.aborted).to.be.above(before.aborted))
      watched.release()
      await pause(200)
      // Few at a time: the rest was never begun.
      expect(watched.opened - before.opened).to.be.below(9)
      expect((await service.objects()).filter((name) => name.includes('_h=3'))).to.deep.equal([])
      // This is no error of the client or the server.
      expect(errors()).to.have.length(before.errors)
    })

    it('close the file that is being read, and open no other', async () => {
      await leaveArchive(
        Array.from({ length: 50 }, () => ({ path: huge.sourceName, type: 'application' })),
        async () => {
          await eventually(() => expect(source.open).to.equal(1))
          // One at a time, and it waits for the client.
          await pause(100)
          expect(source.open).to.equal(1)
        },
      )
      await eventually(() => expect(source.open).to.equal(0))
      isAborted()
      await pause(100)
      expect(source.open).to.equal(0)
    })

    it('close the file that is being sent', async () => {
      const socket = await openSocket(service)
      socket.on('error', () => {})
      socket.pause()
      socket.write(`GET ${huge.src.slice(service.url.length)} HTTP/1.1\r\nHost: x\r\n\r\n`)
      await eventually(() => expect(source.open).to.equal(1))
      await pause(50)
      socket.destroy()
      await eventually(() => expect(source.open).to.equal(0))
      isAborted()
    })
  })
})

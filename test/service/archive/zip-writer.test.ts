import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import crc32 from 'crc-32'
import {
  type ArchiveEntry,
  createZipWriter,
  type ZipWriter,
} from '../../../src/service/archive/zip-writer.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { entriesOf } from '../../support/requests/archive.ts'

const modifiedAt = new Date('2026-01-02T03:04:06Z')
const TEXT = Buffer.from('some text, '.repeat(10_000))
const NOISE = randomBytes(200_000)

function inPieces(bytes: Buffer, pieceBytes = 1000): Readable {
  return Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes)
    })(),
    { objectMode: false },
  )
}

function newWriter(): ZipWriter {
  const zip = createZipWriter()
  // The tests look at what is added.
  zip.output.on('error', () => {})
  return zip
}

async function archiveOf(files: readonly Omit<ArchiveEntry, 'modifiedAt'>[]): Promise<Buffer> {
  const zip = newWriter()
  const read = buffer(zip.output)
  for (const file of files) await zip.add({ ...file, modifiedAt })
  await zip.end()
  const archive = await read
  expect(zip.length).to.equal(archive.length)
  return archive
}

describe('writing an archive', () => {
  it('passes on large chunks as the same objects, and joins the fields of headers', async () => {
    const zip = newWriter()
    const chunks: Buffer[] = []
    zip.output.on('data', (chunk) => chunks.push(chunk))
    await zip.add({ name: 'noise', deflated: false, bytes: NOISE, modifiedAt })
    await zip.end()
    expect(chunks).to.include(NOISE)
    // What is before the file, the file, and the central directory.
    expect(chunks).to.have.length(3)
  })

  it('does not hold a long stream of small chunks', async () => {
    const zip = newWriter()
    const lengths: number[] = []
    zip.output.on('data', ({ length }) => lengths.push(length))
    await zip.add({ name: 'text', deflated: false, bytes: inPieces(NOISE, 100), modifiedAt })
    await zip.end()
    expect(Math.max(...lengths)).to.be.below(8192)
  })

  it('computes checksums with zlib, as the others are a quarter of the CPU of an archive', () => {
    createZipWriter()
    // The check value of CRC-32 in the catalogue of parametrised CRC algorithms; archiver starts with an empty buffer.
    const digits = Buffer.from('123456789')
    expect(
      crc32.buf(digits.subarray(4), crc32.buf(digits.subarray(0, 4), Buffer.alloc(4) as never)),
    ).to.equal(0xcbf43926)
    expect(crc32.buf.toString()).to.contain('nativeCrc32')
  })

  for (const [how, source] of Object.entries({
    'from memory': (bytes: Buffer) => bytes,
    'from streams': (bytes: Buffer) => inPieces(bytes),
  })) {
    it(`writes names and bytes, deflated or not, ${how}`, async () => {
      const files = [
        { name: 'text', deflated: true, bytes: TEXT },
        { name: 'text, stored', deflated: false, bytes: TEXT },
        { name: 'noise', deflated: true, bytes: NOISE },
        { name: 'note:1.txt', deflated: false, bytes: NOISE },
        { name: '1.txt', deflated: false, bytes: Buffer.from('1') },
        { name: 'a:b:c:d/e:f.txt', deflated: false, bytes: Buffer.from('2') },
        { name: 'a/größe 写真', deflated: true, bytes: Buffer.alloc(0) },
      ]
      const archive = await archiveOf(files.map((file) => ({ ...file, bytes: source(file.bytes) })))
      const entries = entriesOf(archive)
      expect(entries.map(({ name }) => name)).to.deep.equal(files.map(({ name }) => name))
      for (const [i, { bytes, name }] of files.entries())
        expect(entries[i]?.bytes.equals(bytes), name).to.equal(true)
      expect(entries[0]?.stored).to.equal(false)
      expect(entries[1]?.stored).to.equal(true)
    })
  }

  it('writes dates in UTC, in any time zone', async () => {
    const zone = process.env.TZ
    process.env.TZ = 'Asia/Tokyo'
    try {
      const archive = await archiveOf([{ name: 'a', deflated: false, bytes: TEXT }])
      // APPNOTE 4.4.6: hours, minutes and pairs of seconds; years since 1980, months and days.
      expect(archive.readUInt16LE(10)).to.equal((3 << 11) | (4 << 5) | 3)
      expect(archive.readUInt16LE(12)).to.equal((46 << 9) | (1 << 5) | 2)
    } finally {
      if (zone === undefined) delete process.env.TZ
      else process.env.TZ = zone
    }
  })

  it('does not wait for an end that cannot come after an abort', async () => {
    const zip = newWriter()
    // More than the buffer: its end comes after bytes that are not read.
    const bytes = Readable.from([NOISE, NOISE])
    const adding = zip.add({ name: 'a', modifiedAt, deflated: false, bytes })
    zip.output.once('readable', () => {})
    await Promise.race([adding, pause(100)])
    zip.output.read()
    zip.output.read()
    await adding
    const ending = rejection(zip.end())
    await pause(20)
    zip.output.destroy()
    expect(await ending).to.have.property('name', 'AbortError')
  })

  it('accepts no more small files than its reader consumes', async () => {
    const zip = newWriter()
    let added = 0
    const adding = (async () => {
      for (;;) {
        await zip.add({ name: `${added}`, modifiedAt, deflated: false, bytes: NOISE })
        added += 1
      }
    })()
    adding.catch(() => {})
    await pause(100)
    const unread = added
    expect(unread).to.be.below(4)
    for (let read = 0; read < 2 * NOISE.length; ) {
      const chunk = zip.output.read() as Buffer | null
      read += chunk?.length ?? 0
      if (!chunk) await once(zip.output, 'readable')
    }
    await eventually(() => expect(added).to.be.at.least(2))
    await pause(100)
    expect(added).to.be.below(unread + 4)
    zip.output.destroy()
    expect(await rejection(adding)).to.have.property('name', 'AbortError')
  })

  it('reads no more of a stream than its reader consumes', async () => {
    let read = 0
    const endless = Readable.from(
      (async function* () {
        for (;;) {
          read += 1
          yield NOISE
        }
      })(),
      { highWaterMark: 1 },
    )
    const zip = newWriter()
    const adding = zip.add({ name: 'a', modifiedAt, deflated: false, bytes: endless })
    adding.catch(() => {})
    await pause(100)
    expect(read).to.be.below(8)
    zip.output.destroy()
    await rejection(adding)
    expect(endless.destroyed).to.equal(true)
  })

  for (const deflated of [false, true]) {
    const how = deflated ? 'deflated' : 'stored'
    it(`fails when a source fails, ${how}`, async () => {
      const broken = Readable.from(
        (async function* () {
          yield NOISE
          throw new Error('EIO')
        })(),
        { objectMode: false },
      )
      const zip = newWriter()
      zip.output.resume()
      const error = await rejection(zip.add({ name: 'a', modifiedAt, deflated, bytes: broken }))
      expect(error).to.have.property('message', 'EIO')
      zip.output.destroy()
    })

    it(`fails when a source fails while the output is not read, ${how}`, async () => {
      const source = inPieces(Buffer.concat(Array(50).fill(NOISE)))
      const zip = newWriter()
      const adding = rejection(zip.add({ name: 'a', modifiedAt, deflated, bytes: source }))
      await pause(20)
      source.destroy(new Error('EIO'))
      expect(await adding).to.have.property('message', 'EIO')
      zip.output.destroy()
    })

    it(`fails when a source has failed before its turn, ${how}`, async () => {
      const source = inPieces(NOISE)
      source.once('error', () => {}).destroy(new Error('EIO'))
      await pause(10)
      const zip = newWriter()
      const error = await rejection(zip.add({ name: 'a', modifiedAt, deflated, bytes: source }))
      expect(error).to.have.property('message', 'EIO')
      zip.output.destroy()
    })

    it(`destroys the source when its reader disconnects, ${how}`, async () => {
      const source = inPieces(Buffer.concat(Array(50).fill(NOISE)))
      const zip = newWriter()
      const adding = rejection(zip.add({ name: 'a', modifiedAt, deflated, bytes: source }))
      for await (const _ of zip.output) break
      await adding
      expect(source.destroyed).to.equal(true)
    })
  }
})

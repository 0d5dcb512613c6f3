import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { type ZipFile, zipWriter } from '../../src/service/zip-writer.ts'
import { entriesOf } from '../support/archive.ts'
import { rejection } from '../support/rejection.ts'

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

async function* archiveOf(files: readonly Pick<ZipFile, 'name' | 'deflated' | 'size' | 'bytes'>[]) {
  const zip = zipWriter()
  for (const file of files) yield* zip.file({ ...file, modifiedAt })
  const before = zip.length
  const end = zip.end()
  expect(zip.length).to.equal(before + end.length)
  yield end
}

const written = (files: Parameters<typeof archiveOf>[0]) => buffer(archiveOf(files))

describe('writing an archive', () => {
  for (const [how, source] of Object.entries({
    'from memory': (bytes: Buffer) => bytes,
    'from streams': (bytes: Buffer) => inPieces(bytes),
  })) {
    it(`keeps names and bytes, deflated or not, ${how}`, async () => {
      const files = [
        { name: 'text', deflated: true, bytes: TEXT },
        { name: 'text, stored', deflated: false, bytes: TEXT },
        { name: 'noise', deflated: true, bytes: NOISE },
        { name: 'note:1.txt', deflated: false, bytes: NOISE },
        { name: '1.txt', deflated: false, bytes: Buffer.from('1') },
        { name: 'a/größe 写真', deflated: true, bytes: Buffer.alloc(0) },
      ]
      const archive = await written(
        files.map((file) => ({ ...file, size: file.bytes.length, bytes: source(file.bytes) })),
      )
      const entries = entriesOf(archive)
      expect(entries.map(({ name }) => name)).to.deep.equal(files.map(({ name }) => name))
      for (const [i, { bytes, name }] of files.entries())
        expect(entries[i]?.bytes.equals(bytes), name).to.equal(true)
      expect(entries[0]?.stored).to.equal(false)
      expect(entries[1]?.stored).to.equal(true)
      expect(archive.length).to.be.below(TEXT.length + 2.1 * NOISE.length)
    })
  }

  it('stores what does not shrink, where it can still choose', async () => {
    const [entry] = entriesOf(
      await written([{ name: 'noise', deflated: true, size: NOISE.length, bytes: NOISE }]),
    )
    expect(entry?.stored).to.equal(true)
  })

  it('reads no more than its reader takes', async () => {
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
    const zip = archiveOf([{ name: 'a', deflated: false, size: 1e12, bytes: endless }])
    for (let i = 0; i < 3; i += 1) await zip.next()
    await pause(50)
    expect(read).to.be.below(6)
    await zip.return(undefined)
    expect(endless.destroyed).to.equal(true)
  })

  for (const deflated of [false, true]) {
    it(`fails with its source, ${deflated ? 'deflated' : 'stored'}`, async () => {
      const broken = Readable.from(
        (async function* () {
          yield NOISE
          throw new Error('EIO')
        })(),
        { objectMode: false },
      )
      const error = await rejection(written([{ name: 'a', deflated, size: 1e6, bytes: broken }]))
      expect(error).to.have.property('message', 'EIO')
    })

    it(`fails with a source that has failed before it was read, ${deflated ? 'deflated' : 'stored'}`, async () => {
      const broken = inPieces(NOISE)
      const zip = archiveOf([{ name: 'a', deflated, size: NOISE.length, bytes: broken }])
      await zip.next()
      broken.destroy(new Error('EIO'))
      await pause(20)
      const error = await rejection(buffer(zip))
      expect(error).to.have.property('message', 'EIO')
    })

    it(`lets go of the source when its reader leaves, ${deflated ? 'deflated' : 'stored'}`, async () => {
      const source = inPieces(Buffer.concat(Array(50).fill(NOISE)))
      const output = Readable.from(archiveOf([{ name: 'a', deflated, size: 1e9, bytes: source }]))
      for await (const _ of output) break
      await pause(20)
      expect(source.destroyed).to.equal(true)
      // Also before anything of it was read.
      const unread = inPieces(NOISE)
      const zip = archiveOf([{ name: 'a', deflated, size: 1e9, bytes: unread }])
      await zip.next()
      await zip.return(undefined)
      expect(unread.destroyed).to.equal(true)
    })
  }
})

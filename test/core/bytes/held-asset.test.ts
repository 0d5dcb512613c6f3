import { randomBytes } from 'node:crypto'
import { expect } from 'chai'
import { assetFromBytes, readAll } from '../../../src/core/bytes/asset.ts'
import { heldAsset } from '../../../src/core/bytes/held-asset.ts'

const bytes = randomBytes(10_000)
const ABOUT = { mediaType: 'image/png', lastModified: new Date(0) }
const newPiece = () => Buffer.alloc(1000)

async function collected(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of stream) pieces.push(piece)
  return Buffer.concat(pieces)
}

describe('assets in memory that are being stored', () => {
  it('are read from memory, completely or in part', async () => {
    const { asset } = heldAsset(assetFromBytes(bytes, ABOUT))
    expect((await readAll(asset)).equals(bytes)).to.equal(true)
    expect((await collected(await asset.open({ newPiece }))).equals(bytes)).to.equal(true)
    const part = await collected(await asset.open({ newPiece, range: { start: 500, end: 4321 } }))
    expect(part.equals(bytes.subarray(500, 4322))).to.equal(true)
  })

  it('continue from the bucket at the same position when the bytes are released', async () => {
    const { asset, release } = heldAsset(assetFromBytes(bytes, ABOUT))
    const stream = await asset.open({ newPiece, range: { start: 500, end: 9000 } })
    const chunks = stream[Symbol.asyncIterator]()
    const first = (await chunks.next()).value as Buffer
    const stored = Buffer.from(bytes)
    stored.fill('s', 5000)
    release(async () => assetFromBytes(stored, ABOUT))
    const rest = await collected({ [Symbol.asyncIterator]: () => chunks })
    const expected = Buffer.concat([bytes.subarray(500, 5000), stored.subarray(5000, 9001)])
    expect(Buffer.concat([first, rest]).equals(expected)).to.equal(true)
    expect((await readAll(asset)).equals(stored)).to.equal(true)
  })

  it('hold no bytes in memory for slow readers after the release', async () => {
    const { asset, release } = heldAsset(assetFromBytes(Buffer.from(bytes), ABOUT))
    const streams = await Promise.all(Array.from({ length: 3 }, () => asset.open({ newPiece })))
    const readers = streams.map((stream) => stream[Symbol.asyncIterator]())
    const pieces = await Promise.all(readers.map(async (reader) => (await reader.next()).value as Buffer))
    // A part of the bytes would keep all of them.
    expect(pieces.map((piece) => piece.buffer.byteLength)).to.deep.equal([1000, 1000, 1000])
    release(async () => undefined)
    for (const reader of readers) {
      const failure = await reader.next().catch((error: Error) => error)
      expect(failure).to.be.instanceOf(Error)
    }
  })

  it('fail with a 404 when they are deleted', async () => {
    const { asset, release } = heldAsset(assetFromBytes(bytes, ABOUT))
    release(async () => undefined)
    const failure = await asset.open({ newPiece }).catch((error) => error)
    expect(failure).to.have.property('status', 404)
  })

  it('notify readers, including later ones, when they could not be stored', async () => {
    const { asset, notStored } = heldAsset(assetFromBytes(bytes, ABOUT))
    const told: string[] = []
    asset.onNotStored?.(() => told.push('reader'))
    asset.onNotStored?.(() => told.push('reader who has left'))()
    expect(told).to.deep.equal([])
    notStored()
    expect(told).to.deep.equal(['reader'])
    asset.onNotStored?.(() => told.push('late reader'))
    expect(told).to.deep.equal(['reader', 'late reader'])
    expect((await collected(await asset.open({ newPiece }))).equals(bytes)).to.equal(true)
  })

  it('do not notify readers once they are stored', () => {
    const { asset, release } = heldAsset(assetFromBytes(bytes, ABOUT))
    let told = 0
    asset.onNotStored?.(() => {
      told += 1
    })
    release(async () => undefined)
    expect(told).to.equal(0)
  })
})

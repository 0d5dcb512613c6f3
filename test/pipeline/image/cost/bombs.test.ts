import { expect } from 'chai'
import sharp from 'sharp'
import { readExif } from '../../../../src/core/media/exif.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { stripDecompressionBombs } from '../../../../src/engines/image/decompression-bombs.ts'
import { manyBlocks, manyChunks, manyWebpChunks } from '../../../support/requests/attacks.ts'

describe('images of millions of parts', () => {
  for (const type of ['tEXt', 'zTXt', 'aaAa', 'IDAT'])
    it(`are refused: a PNG of more than 10,000 empty ${type} chunks, without reading all of it`, () => {
      // What follows is no chunk: whoever read it would find that first.
      const bytes = Buffer.concat([manyChunks(10_100, type).subarray(0, -12), Buffer.alloc(3_300_000, 0xff)])
      expectRefused(bytes, 'expected a PNG of at most 10000 chunks')
    })

  it('are refused: a GIF of 19 million blocks of one byte', () => {
    expectRefused(manyBlocks(19_000_000), /expected a GIF of at most \d+ blocks/)
  })

  it('are refused: a WebP of 4.8 million empty chunks', async () => {
    const create = { width: 8, height: 8, channels: 3 as const, background: 'red' }
    const webp = await sharp({ create }).webp().toBuffer()
    expectRefused(manyWebpChunks(webp, 4_800_000), 'expected a WebP of at most 10000 chunks')
  })

  it('lose the texts of a PNG that would each cause a warning', async () => {
    const harmless = stripDecompressionBombs(manyChunks(5000))
    expect(harmless.toString('latin1')).not.to.include('tEXt')
    expect(await sharp(harmless).metadata()).to.include({ width: 8, height: 8 })
  })

  it('are accepted: a large PNG with chunks of 8 KB, as libpng writes them', () => {
    // 100 MB: more chunks than a small file may have.
    const chunk = Buffer.concat([Buffer.from([0, 0, 32, 0]), Buffer.from('IDAT'), Buffer.alloc(8196)])
    const plain = manyChunks(0)
    const large = Buffer.concat([plain.subarray(0, 33), Buffer.alloc(12_500 * chunk.length, chunk)])
    expect(() => stripDecompressionBombs(large)).not.to.throw()
  })

  it('have no EXIF of unknown tags', () => {
    const block = manyTexts(512)
    expect(readExif(block)).to.deep.equal({ tags: {} })
  })

  function expectRefused(bytes: Buffer, message: string | RegExp) {
    expect(() => stripDecompressionBombs(bytes))
      .to.throw(Problem, message)
      .that.has.property('status', 422)
  }
})

/** An EXIF block of texts of 4 KB with numbers that mean nothing. */
function manyTexts(count: number): Buffer {
  const block = Buffer.alloc(10 + 12 * count + 4096, 0x61)
  block.write('II*\0', 'latin1')
  block.writeUInt32LE(8, 4)
  block.writeUInt16LE(count, 8)
  for (let i = 0; i < count; i += 1) {
    const entry = 10 + 12 * i
    block.writeUInt16LE(50_000 + i, entry)
    block.writeUInt16LE(2, entry + 2)
    block.writeUInt32LE(4000, entry + 4)
    block.writeUInt32LE(10 + 12 * count, entry + 8)
  }
  return block
}

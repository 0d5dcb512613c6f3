import { crc32, deflateSync } from 'node:zlib'
import { expect } from 'chai'
import sharp from 'sharp'
import { assetFromBytes } from '../../../src/core/bytes/asset.ts'
import { imageInspector } from '../../../src/engines/image/inspector.ts'
import { animation, picture } from '../../support/media/images.ts'

const { signal } = new AbortController()
const MIB = 1024 * 1024

const assetOf = (bytes: Uint8Array) =>
  assetFromBytes(bytes, { mediaType: 'application/octet-stream', lastModified: new Date() })
const facts = (bytes: Uint8Array, maxBytes = MIB) =>
  imageInspector.facts(assetOf(bytes), { maxBytes, signal })

describe('inspection of images', () => {
  it('needs only the first bytes, except for the number of frames', async () => {
    for (const format of ['jpeg', 'png', 'avif'] as const) {
      const bytes = await sharp(await picture({ width: 900, height: 700 }))
        .blur(3)
        .toFormat(format, { quality: 90 })
        .toBuffer()
      const whole = await facts(bytes)
      expect(whole, format).to.include({ width: 900, height: 700, pages: 1 })
      const known = await facts(bytes, Math.floor(bytes.length / 2))
      expect({ ...known, pages: 1 }, format).to.deep.equal(whole)
    }
    const gif = await animation()
    expect(await facts(gif)).to.include({ pages: 3 })
    expect(await facts(gif, gif.length - 20))
      .to.include({ width: 40, height: 30 })
      .and.not.have.property('pages')
  })

  it('returns nothing for a file that is no image, or too short', async () => {
    const png = await picture()
    for (const bytes of [Buffer.from('some text'), Buffer.alloc(0), png.subarray(0, 20)])
      expect(await facts(bytes)).to.equal(undefined)
  })

  it('needs little memory, whatever a header has compressed', async () => {
    // Together 800 MiB, of as much as libpng takes.
    const packed = deflateSync(Buffer.alloc(4 * MIB, 'x'))
    const text = chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), packed]))
    const png = await picture({ width: 4, height: 3 })
    // Behind the signature and the chunk of the size.
    const at = 8 + 25
    const bytes = Buffer.concat([png.subarray(0, at), ...Array(200).fill(text), png.subarray(at)])
    const before = process.resourceUsage().maxRSS
    expect(await facts(bytes, bytes.length)).to.include({ width: 4, height: 3 })
    expect((process.resourceUsage().maxRSS - before) / 1024).to.be.below(200)
  })
})

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const ends = Buffer.alloc(8)
  ends.writeUInt32BE(data.length, 0)
  ends.writeUInt32BE(crc32(typed), 4)
  return Buffer.concat([ends.subarray(0, 4), typed, ends.subarray(4)])
}

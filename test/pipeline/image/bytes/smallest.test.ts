import { expect } from 'chai'
import sharp, { type Sharp } from 'sharp'
import { jpegQuality } from '../../../../src/engines/image/jpeg-quality.ts'
import { sized } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'
import { chart, drawn, photo } from './sources.ts'

const AUTO = { accept: 'image/avif,image/webp,*/*' }

async function pixelsOf(bytes: Buffer): Promise<Buffer> {
  return sharp(bytes).removeAlpha().raw().toBuffer()
}

describe('the smallest encoding', () => {
  describe('of a PNG', () => {
    it('has a palette when it looks the same, of few colours without any loss', async () => {
      const source = await chart().png({ compressionLevel: 0 }).toBuffer()
      for (const query of ['w=240&flip', 'w=170']) {
        const { bytes } = await transformed(source, query)
        const full = await transformed(source, `${query}&lossless`)
        expect(bytes.length, query).to.be.below(full.bytes.length)
        const [one, other] = [await pixelsOf(bytes), await pixelsOf(full.bytes)]
        const errors = one.map((value, i) => Math.abs(value - (other[i] ?? 0)))
        const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length
        expect(mean, query).to.be.at.most(query === 'w=170' ? 0.5 : 0)
      }
    })

    it('has a palette for a drawing with soft edges', async () => {
      const circles = Array.from(
        { length: 9 },
        (_, i) =>
          `<circle cx="${40 + i * 60}" cy="${60 + ((i * 53) % 200)}" r="${20 + i * 5}" fill="hsl(${i * 40},80%,50%)"/>`,
      )
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300">${circles.join('')}</svg>`
      const source = await sharp(Buffer.from(svg)).png().toBuffer()
      const { bytes, metadata } = await transformed(source, 'w=500')
      expect(metadata).to.include({ isPalette: true, hasAlpha: true })
      const full = await transformed(source, 'w=500&lossless')
      expect(bytes.length * 1.5).to.be.below(full.bytes.length)
    })

    it('has a palette for grey text with transparency', async () => {
      const lines = Array.from(
        { length: 30 },
        (_, i) => `<path d="M${i * 20} 0L${600 - i * 17} 300" stroke="#000"/>`,
      )
      const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300">${lines.join('')}</svg>`
      const source = await sharp(Buffer.from(svg)).png().toBuffer()
      const { bytes, metadata } = await transformed(source, 'flip')
      expect(metadata.isPalette).to.equal(true)
      const full = await transformed(source, 'flip&lossless')
      expect(bytes.length * 1.1).to.be.below(full.bytes.length)
    })

    it('has no palette for a photo, and for a smooth gradient', async () => {
      const gradient = drawn({ width: 300, height: 100 }, (x, y) => [x * 0.85, y * 2.5, 255 - x * 0.85])
      for (const image of [photo(), gradient]) {
        const source = await image.png().toBuffer()
        const { bytes, metadata } = await transformed(source, 'flip')
        expect(metadata.isPalette).to.not.equal(true)
        expect(
          (await pixelsOf(bytes)).equals(await pixelsOf((await transformed(source, 'flip&lossless')).bytes)),
        ).to.equal(true)
      }
    })

    it('has one channel when it is grey, and no alpha when it is opaque', async () => {
      const grey = await drawn({ width: 200, height: 90 }, (x, y) => {
        const value = (x * 7 + y * 3) % 256
        return [value, value, value, 255]
      })
        .png()
        .toBuffer()
      const { metadata, bytes } = await transformed(grey, 'flop')
      expect([metadata.channels, metadata.space]).to.deep.equal([1, 'b-w'])
      expect(bytes.length).to.be.below((await transformed(grey, 'flop&lossless')).bytes.length)
    })

    it('has as many colours as requested', async () => {
      const source = await photo().png().toBuffer()
      for (const colors of [2, 16, 256]) {
        const { bytes, metadata } = await transformed(source, `colors=${colors}`)
        expect(metadata.isPalette).to.equal(true)
        const pixels = await pixelsOf(bytes)
        const seen = new Set(Array.from({ length: pixels.length / 3 }, (_, i) => pixels.readUIntBE(3 * i, 3)))
        expect(seen.size).to.be.within(2, colors)
      }
    })
  })

  it('is lossless WebP for a chart, lossy for a photo, and as requested with a quality', async () => {
    const isLossless = (bytes: Buffer) => bytes.includes('VP8L')
    for (const [image, query, expected] of [
      [chart(), 'f=webp&flip', true],
      [chart(), 'f=webp&flip&q=75', false],
      [photo(), 'f=webp&flip', false],
      [photo(), 'f=webp&lossless', true],
    ] as const) {
      const { bytes } = await transformed(await image.png().toBuffer(), query)
      expect(isLossless(bytes), query).to.equal(expected)
    }
  })

  it('with f=auto is never larger than another format that the client accepts, for a small image', async () => {
    for (const image of [chart({ width: 60, height: 40 }), photo({ width: 60, height: 40 })]) {
      const source = await image.png().toBuffer()
      const sizeOf = async (query: string) => (await transformed(source, query, AUTO)).bytes.length
      const auto = await sizeOf('flip&f=auto')
      for (const f of ['avif', 'webp', 'png']) expect(auto, f).to.be.at.most(await sizeOf(`flip&f=${f}`))
    }
  })

  it('has colours in full resolution for a drawing, and not for a photo', async () => {
    for (const [image, expected] of [
      [chart(), '4:4:4'],
      [photo(), '4:2:0'],
    ] as const) {
      const { metadata } = await transformed(await image.png().toBuffer(), 'f=jpeg&flip')
      expect(metadata.chromaSubsampling).to.equal(expected)
    }
  })

  it('of a JPEG as PNG or GIF is larger than it, and has its colours', async () => {
    const source = await photo().jpeg({ quality: 50 }).toBuffer()
    const { bytes, metadata } = await transformed(source, 'f=png', { format: 'jpeg' })
    expect(metadata.isPalette).to.not.equal(true)
    expect((await pixelsOf(bytes)).equals(await pixelsOf(source))).to.equal(true)
    const gif = await transformed(source, 'f=gif', { format: 'jpeg' })
    expect(gif.bytes.length).to.be.above(source.length)
  })

  it('loses no quality when no encoding would fit', async () => {
    const source = await chart({ width: 900, height: 600 }).png({ palette: true, effort: 10 }).toBuffer()
    const { bytes } = await transformed(source, 'f=jpeg')
    expect(bytes.length).to.be.above(4096)
    expect(jpegQuality(bytes)).to.be.closeTo(78, 2)
    const frames = await Promise.all([1, 2].map((seed) => photo({ seed }).png().toBuffer()))
    const moving = await sharp(frames, { join: { animated: true } })
      .webp({ quality: 20 })
      .toBuffer()
    const gif = await transformed(moving, 'f=gif', { format: 'webp' })
    const pixels = await pixelsOf(gif.bytes)
    const seen = new Set(Array.from({ length: pixels.length / 3 }, (_, i) => pixels.readUIntBE(3 * i, 3)))
    expect(seen.size).to.be.above(128)
  })

  describe('of a JPEG of low quality', () => {
    const poor = () => photo({ width: 600, height: 400 }).jpeg({ quality: 35 }).toBuffer()

    it('has no higher quality, unless it is reduced to half its sides or has a requested one', async () => {
      const source = await poor()
      const sizeOf = async (query: string) =>
        (await transformed(source, query, { format: 'jpeg' })).bytes.length
      expect(await sizeOf('w=500')).to.equal(await sizeOf('w=500&q=35'))
      expect(await sizeOf('w=300')).to.equal(await sizeOf('w=300&q=78'))
      expect(await sizeOf('w=500&q=78')).to.be.above(source.length)
    })

    it('is smaller than the original in each format', async () => {
      const source = await poor()
      // An AVIF takes more CPU time than all others.
      const usual = ['w=590', 'f=webp', 'f=avif']
      for (const query of sized(usual, [...usual, 'w=600', 'greyscale', 'f=auto', 'w=560&f=auto'])) {
        const { bytes } = await transformed(source, query, { format: 'jpeg', ...AUTO })
        expect(bytes.length, query).to.be.at.most(source.length)
      }
    })
  })

  describe('of an image that is not changed', () => {
    const stored: ReadonlyArray<readonly [string, (image: Sharp) => Sharp, string]> = [
      ['jpeg', (image) => image.jpeg({ quality: 30 }), 'f=jpeg'],
      ['png', (image) => image.png({ palette: true, effort: 10 }), 'w=5000'],
      ['webp', (image) => image.webp({ quality: 20 }), 'f=webp'],
    ]
    for (const [format, encode, query] of stored)
      it(`is the original without its metadata: ${format}`, async () => {
        const bare = await encode(photo()).toBuffer()
        const source = await encode(photo().withExif({ IFD0: { Copyright: 'secret' } })).toBuffer()
        const { bytes, metadata } = await transformed(source, query, { format })
        expect(metadata.exif).to.equal(undefined)
        expect(bytes.includes('secret')).to.equal(false)
        expect((await pixelsOf(bytes)).equals(await pixelsOf(bare))).to.equal(true)
      })

    it('is a render when the original is turned by EXIF, or has other colours', async () => {
      const turned = await photo().withMetadata({ orientation: 6 }).jpeg({ quality: 30 }).toBuffer()
      const { metadata } = await transformed(turned, 'f=jpeg', { format: 'jpeg' })
      expect([metadata.width, metadata.height]).to.deep.equal([160, 240])
      const wide = await photo().withIccProfile('p3').jpeg({ quality: 30 }).toBuffer()
      const outcome = await transformed(wide, 'f=jpeg', { format: 'jpeg' })
      expect((await pixelsOf(outcome.bytes)).equals(await pixelsOf(wide))).to.equal(false)
    })

    it('is of a format that every browser shows, with f=auto', async () => {
      const source = await chart().png({ palette: true, effort: 10 }).toBuffer()
      const { bytes, mediaType } = await transformed(source, 'f=auto', AUTO)
      expect(bytes.length).to.be.at.most(source.length)
      expect(['image/png', 'image/webp']).to.include(mediaType)
    })
  })
})

import { expect } from 'chai'
import sharp from 'sharp'
import { animation, colourAt, picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { loadWith } from '../load/drop-ins.ts'
import { corners } from './geometry/corners.ts'
import { transformed } from './transform.ts'

const FORMATS = ['jpeg', 'png', 'webp', 'avif', 'tiff', 'gif'] as const

/** sharp's name for what is in the file. */
const inside = (format: string) => (format === 'avif' ? 'heif' : format)

/** A picture that compresses badly, so that quality shows. */
async function noise(): Promise<Buffer> {
  const noise = { type: 'gaussian' as const, mean: 128, sigma: 60 }
  const create = { width: 120, height: 120, channels: 3 as const, background: '#000', noise }
  return sharp({ create }).png().toBuffer()
}

const SVG = Buffer.from(
  `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="60" height="40">
    <rect width="30" height="20" fill="#f00"/><rect x="30" y="20" width="30" height="20" fill="#00f"/></svg>`,
)

describe('image-format', () => {
  for (const format of FORMATS) {
    it(`converts png to ${format} and back`, async () => {
      const there = await transformed(await picture({ width: 60, height: 40 }), `f=${format}`)
      expect(there.mediaType).to.equal(`image/${format}`)
      expect(there.metadata).to.include({ format: inside(format), width: 60, height: 40 })
      expect(await corners(there.bytes)).to.equal('rgbw')
      const back = await transformed(there.bytes, 'f=png', { format })
      expect(back.mediaType).to.equal('image/png')
      expect(await corners(back.bytes)).to.equal('rgbw')
    })

    it(`keeps ${format} by default`, async () => {
      const source = await picture({ width: 60, height: 40, format })
      const { metadata, mediaType } = await transformed(source, 'w=30', { format })
      expect(mediaType).to.equal(`image/${format}`)
      expect(metadata).to.include({ format: inside(format), width: 30, height: 20 })
    })
  }

  it('writes AVIF as AV1, not as HEVC', async () => {
    const { metadata } = await transformed(await picture(), 'f=avif')
    expect(metadata.compression).to.equal('av1')
  })

  it('writes with the efforts of the chain', async () => {
    const source = await noise()
    const written = async (query: string, encoders?: object) => {
      const options = encoders ? { 'image-format': { encoders } } : {}
      const { transforms } = await loadWith({}, { options })
      return transformed(source, query, { transforms })
    }
    expect((await written('f=jpeg')).metadata.isProgressive).to.equal(false)
    expect((await written('f=jpeg', { jpeg: { progressive: 1 } })).metadata.isProgressive).to.equal(true)
    for (const [query, encoders] of [
      ['f=jpeg', { jpeg: { mozjpeg: 1 } }],
      ['f=webp', { webp: { effort: 6 } }],
      ['f=avif', { avif: { effort: 0 } }],
      ['f=png&w=100', { png: { effort: 0 } }],
    ] as const) {
      const [usual, other] = [await written(query), await written(query, encoders)]
      expect(other.bytes.equals(usual.bytes), query).to.equal(false)
    }
    for (const encoders of [
      { webp: { effort: 7 } },
      { jpeg: { effort: 1 } },
      { gif: {}, png: { effort: 1.5 } },
      4,
    ]) {
      const error = await rejection(written('f=png', encoders as object))
      expect(error, JSON.stringify(encoders))
        .to.have.property('message')
        .that.includes('webp (effort 0 to 6)')
    }
  })

  for (const [format, usual] of [
    ['jpeg', 78],
    ['webp', 75],
    ['avif', 55],
    ['tiff', 78],
  ] as const) {
    it(`writes a smaller ${format} for a lower quality, with a default of ${usual}`, async () => {
      const source = await noise()
      const sizes = await Promise.all(
        ['q=10&', `q=${usual}&`, '', 'q=100&'].map(
          async (q) => (await transformed(source, `${q}f=${format}`)).bytes.length,
        ),
      )
      const [low = 0, standard = 0, unsaid = 0, high = 0] = sizes
      expect(low * 1.3).to.be.below(standard)
      expect(unsaid).to.equal(standard)
      expect(standard * 1.3).to.be.below(high)
    })
  }

  for (const format of ['png', 'gif'] as const) {
    it(`ignores the quality for ${format}`, async () => {
      const source = await picture({ width: 60, height: 40, format })
      const [low, high] = await Promise.all(
        ['q=1', 'q=100'].map((query) => transformed(source, query, { format })),
      )
      expect(low?.bytes).to.deep.equal(high?.bytes)
    })
  }

  it('shows white behind transparency in a format without transparency', async () => {
    const clear = await sharp({ create: { width: 20, height: 20, channels: 4, background: '#ff000000' } })
      .png()
      .toBuffer()
    for (const format of ['jpeg', 'tiff']) {
      const { bytes, metadata } = await transformed(clear, `f=${format}`)
      expect(metadata.hasAlpha).to.equal(false)
      expect(await corners(bytes), format).to.equal('wwww')
    }
    for (const format of ['png', 'webp', 'avif', 'gif']) {
      expect(await corners((await transformed(clear, `f=${format}`)).bytes), format).to.equal('----')
    }
  })

  describe('of an animation', () => {
    for (const source of ['gif', 'webp'] as const) {
      for (const target of ['gif', 'webp'] as const) {
        it(`keeps all frames from ${source} to ${target}`, async () => {
          const { metadata, bytes } = await transformed(
            await animation({ format: source }),
            `w=20&f=${target}`,
            {
              format: source,
            },
          )
          expect(metadata).to.include({ format: target, pages: 3, width: 20 })
          expect(metadata.pageHeight ?? metadata.height).to.equal(15)
          for (const [page, colour] of ['r', 'g', 'b'].entries()) {
            const frame = await sharp(bytes, { page }).png().toBuffer()
            expect(await corners(frame), `frame ${page}`).to.equal(colour.repeat(4))
          }
        })
      }

      it(`keeps all frames of a ${source} by default`, async () => {
        const { metadata } = await transformed(await animation({ format: source }), 'q=50', {
          format: source,
        })
        expect(metadata).to.include({ format: source, pages: 3, width: 40 })
        expect(metadata.pageHeight ?? metadata.height).to.equal(30)
      })

      it(`keeps all frames of a ${source} for f=auto`, async () => {
        const accept = 'image/avif,image/webp,*/*'
        const { metadata } = await transformed(await animation({ format: source }), 'f=auto', {
          format: source,
          accept,
        })
        // Of three small frames in one colour each, the GIF is smaller.
        expect(metadata).to.include({ format: source, pages: 3 })
      })

      for (const target of ['jpeg', 'png', 'tiff'] as const) {
        it(`takes the first frame from ${source} to ${target}`, async () => {
          const moving = await animation({ format: source, width: 40, height: 30 })
          const { metadata, bytes } = await transformed(moving, `f=${target}`, { format: source })
          expect(metadata).to.include({ format: inside(target), width: 40, height: 30 })
          expect(metadata.pages ?? 1).to.equal(1)
          expect(await corners(bytes)).to.equal('rrrr')
        })
      }
    }

    it('takes the first page of a multi-page TIFF', async () => {
      const first = await picture({ width: 20, height: 10 })
      const second = await sharp(first).negate({ alpha: false }).png().toBuffer()
      const pages = await sharp([first, second], { join: { animated: true } })
        .tiff()
        .toBuffer()
      expect((await sharp(pages).metadata()).pages).to.equal(2)
      for (const query of ['f=png', 'f=webp', 'q=50']) {
        const { metadata, bytes } = await transformed(pages, query, { format: 'tiff' })
        expect(await corners(bytes), query).to.equal('rgbw')
        expect([metadata.width, metadata.height, metadata.pages ?? 1], query).to.deep.equal([20, 10, 1])
      }
    })
  })

  describe('of an SVG', () => {
    it('writes png by default, with its transparency', async () => {
      const { metadata, mediaType, bytes } = await transformed(SVG, 'q=75', { format: 'svg' })
      expect(mediaType).to.equal('image/png')
      expect(metadata).to.include({ format: 'png', width: 60, height: 40 })
      expect(await corners(bytes)).to.equal('r-b-')
    })

    it('writes the requested format, resized', async () => {
      const { metadata, bytes } = await transformed(SVG, 'w=30&f=jpeg', { format: 'svg' })
      expect(metadata).to.include({ format: 'jpeg', width: 30, height: 20 })
      expect(await corners(bytes)).to.equal('rwbw')
    })
  })

  describe('of colours', () => {
    it('converts a wide-gamut image to sRGB', async () => {
      const green = { create: { width: 8, height: 8, channels: 3 as const, background: '#00c800' } }
      const p3 = await sharp(green).withIccProfile('p3').png().toBuffer()
      // The bytes of the file say the same as before; only the profile says what they mean.
      const raw = await sharp(p3).keepIccProfile().raw().toBuffer()
      const { bytes, metadata } = await transformed(p3, 'f=png')
      expect(metadata.icc).to.equal(undefined)
      expect(metadata.space).to.equal('srgb')
      const { r, g, b } = await colourAt(bytes, 4, 4)
      // withIccProfile converts the pixels to P3, so that the way back leads to the green that it was.
      expect(Math.abs(g - 200), `${r} ${g} ${b}`).to.be.below(6)
      expect(r + b, `${r} ${g} ${b}`).to.be.below(12)
      expect([...raw.subarray(0, 3)]).to.not.deep.equal([0, 200, 0])
    })

    it('converts CMYK to sRGB', async () => {
      const cmyk = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
        .toColourspace('cmyk')
        .jpeg({ quality: 100 })
        .toBuffer()
      expect((await sharp(cmyk).metadata()).space).to.equal('cmyk')
      const { metadata, bytes } = await transformed(cmyk, 'f=png', { format: 'jpeg' })
      expect(metadata.space).to.equal('srgb')
      const { r, g, b } = await colourAt(bytes, 4, 4)
      expect(r, `${r} ${g} ${b}`).to.be.above(180)
      expect(Math.max(g, b), `${r} ${g} ${b}`).to.be.below(90)
    })

    it('keeps grey images grey, and converts 16 bits to 8', async () => {
      const deep = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#808080' } })
        .toColourspace('rgb16')
        .png()
        .toBuffer()
      expect((await sharp(deep).metadata()).depth).to.equal('ushort')
      const { metadata, bytes } = await transformed(deep, 'f=png')
      expect(metadata.depth).to.equal('uchar')
      expect(await colourAt(bytes, 4, 4)).to.deep.equal({ r: 128, g: 128, b: 128, a: 255 })
    })
  })
})

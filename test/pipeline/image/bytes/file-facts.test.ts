import { expect } from 'chai'
import sharp from 'sharp'
import { jpegQuality } from '../../../../src/engines/image/jpeg-quality.ts'
import { withoutMetadata } from '../../../../src/engines/image/without-metadata.ts'
import { animation } from '../../../support/media/images.ts'
import { photo } from './sources.ts'

describe('the quality of a JPEG', () => {
  for (const [name, options] of [
    ['the tables of the standard', {}],
    ['table 3 of mozjpeg', { quantisationTable: 3 }],
  ] as const)
    it(`is that of its encoder, with ${name}`, async () => {
      for (const quality of [35, 50, 75, 78, 90, 100]) {
        const jpeg = await photo()
          .jpeg({ quality, ...options })
          .toBuffer()
        expect(jpegQuality(jpeg), `${quality}`).to.be.closeTo(quality, 3)
      }
    })

  it('is unknown when the table is not among the bytes', async () => {
    const jpeg = await photo().jpeg().toBuffer()
    expect(jpegQuality(jpeg.subarray(0, 30))).to.equal(undefined)
    expect(jpegQuality(Buffer.alloc(0))).to.equal(undefined)
    expect(jpegQuality(Buffer.from('ffd8ffda0002', 'hex'))).to.equal(undefined)
  })
})

describe('an image without its metadata', () => {
  const marked = () =>
    photo()
      .withExif({ IFD0: { Copyright: 'secret' } })
      .withIccProfile('srgb')

  for (const [format, encode] of [
    ['jpeg', () => marked().jpeg()],
    ['jpeg', () => marked().jpeg({ progressive: true })],
    ['png', () => marked().png()],
    ['webp', () => marked().webp()],
    ['webp', () => marked().webp({ lossless: true })],
  ] as const)
    it(`has the same pixels, and nothing else: ${format}`, async () => {
      const source = await encode().toBuffer()
      const plain = withoutMetadata(format, source) ?? Buffer.alloc(0)
      const { exif, icc, hasProfile } = await sharp(plain).metadata()
      expect({ exif, icc, hasProfile }).to.deep.equal({ exif: undefined, icc: undefined, hasProfile: false })
      expect(plain.includes('secret')).to.equal(false)
      const pixels = (bytes: Buffer) => sharp(bytes).raw().toBuffer()
      expect((await pixels(plain)).equals(await pixels(source))).to.equal(true)
    })

  it('keeps the frames, times and loops of an animation, and loses its comments', async () => {
    const gif = await animation({ format: 'gif' })
    const comment = Buffer.from([0x21, 0xfe, 6, ...Buffer.from('secret'), 0])
    const at = 13 + 3 * 2 ** (((gif[10] ?? 0) & 7) + 1) * ((gif[10] ?? 0) >> 7)
    const source = Buffer.concat([gif.subarray(0, at), comment, gif.subarray(at)])
    expect(withoutMetadata('gif', source)?.equals(gif)).to.equal(true)
    const webp = await sharp(await animation({ format: 'webp' }), { animated: true })
      .withExif({ IFD0: { Copyright: 'secret' } })
      .webp({ loop: 3, delay: [110, 120, 130] })
      .toBuffer()
    const plain = withoutMetadata('webp', webp) ?? Buffer.alloc(0)
    const { pages, delay, loop, exif } = await sharp(plain).metadata()
    expect({ pages, delay, loop, exif }).to.deep.equal({
      pages: 3,
      delay: [110, 120, 130],
      loop: 3,
      exif: undefined,
    })
  })

  it('is unknown for a broken file', () => {
    const starts = { jpeg: 'ffd8ffe0', png: '89504e470d0a1a0a', webp: '52494646', gif: '474946383961' }
    for (const [format, start] of Object.entries(starts)) {
      const bytes = Buffer.concat([Buffer.from(start, 'hex'), Buffer.alloc(100, 0x21)])
      const plain = withoutMetadata(format, bytes)
      expect(plain === undefined || plain.length < 150, format).to.equal(true)
    }
    expect(withoutMetadata('tiff', Buffer.alloc(10))).to.equal(undefined)
  })
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { bmp } from '../../../src/engines/image/decoders/bmp.ts'
import type { Decoder } from '../../../src/engines/image/decoders/decoder.ts'
import { ico } from '../../../src/engines/image/decoders/ico.ts'
import { jp2 } from '../../../src/engines/image/decoders/jp2.ts'
import { jxl } from '../../../src/engines/image/decoders/jxl.ts'
import { psd } from '../../../src/engines/image/decoders/psd.ts'
import { mutated } from '../../support/media/mutated.ts'
import { PROJECT } from '../../support/service.ts'
import { itLong, sized } from '../../support/sized.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))
const options = { maxPixels: 1_000_000, check: () => {} }

/** The pixels of a file that libvips reads: red, green and blue. */
const pixelsOf = (bytes: Buffer) => sharp(bytes).removeAlpha().toColourspace('srgb').raw().toBuffer()

async function decoded(decoder: Decoder, name: string): Promise<Buffer> {
  const bytes = await fileOf(name)
  expect(decoder.facts(bytes)).to.include({ width: 48, height: 36 })
  return pixelsOf((await decoder.decode(bytes, options)).bytes)
}

describe('decoders', () => {
  // ImageMagick made each pair from the same pixels.
  for (const [name, decoder, same, tolerance] of [
    ['im.bmp', bmp, 'im.png', 1],
    ['bmp-2.bmp', bmp, 'im.png', 1],
    ['bmp-3.bmp', bmp, 'im.png', 1],
    ['im.ico', ico, 'im.png', 1],
    ['im.psd', psd, 'im.png', 1],
    ['psd-raw.psd', psd, 'im.png', 1],
    ['psd-deep.psd', psd, 'im.png', 1],
    ['psd-palette.psd', psd, 'im.png', 1],
    ['psb.psb', psd, 'im.png', 1],
    ['psd-grey.psd', psd, 'png-gray.png', 1],
    ['psd-bitmap.psd', psd, 'png-bilevel.png', 0],
    ['psd-cmyk.psd', psd, 'tiff-cmyk.tif', 1],
    ['im.jp2', jp2, 'im.png', 1],
    ['jp2-deep.jp2', jp2, 'im.png', 1],
    ['jp2-tiles.jp2', jp2, 'im.png', 1],
    ['jp2-bare.j2k', jp2, 'im.png', 1],
    // With colours of half the size, and lossy.
    ['jp2-420.jp2', jp2, 'im.png', 24],
    ['jp2-gray.jp2', jp2, 'png-gray.png', 1],
    ['jxl-lossless.jxl', jxl, 'im.png', 1],
    ['jxl-deep.jxl', jxl, 'im.png', 1],
    ['jxl-p3.jxl', jxl, 'im.png', 2],
    ['jxl-animated.jxl', jxl, 'gif-animated.gif', 1],
  ] as const) {
    // JPEG 2000 and JPEG XL take most of the time.
    const itTried = /^(?:jp2-(?:deep|tiles|bare|gray)|jxl-(?:deep|p3))/.test(name) ? itLong : it
    itTried(`decode ${name} to the pixels of ${same}`, async () => {
      const pixels = await decoded(decoder, name)
      const written = await pixelsOf(await fileOf(same))
      expect(pixels.length).to.equal(written.length)
      const worst = pixels.reduce((most, value, i) => Math.max(most, Math.abs(value - (written[i] ?? 0))), 0)
      expect(worst).to.be.at.most(tolerance)
    })
  }

  it('decode the alpha of a BMP whose header has a mask for it, unless all of it is transparent', async () => {
    // Two pixels in a header of version 4: blue, green, red, alpha.
    const withPixels = (pixels: number[], mask = 0xff000000) => {
      const bytes = Buffer.alloc(14 + 108 + 8)
      bytes.write('BM')
      bytes.writeUInt32LE(14 + 108, 10)
      for (const [at, value] of [
        [14, 108],
        [18, 2],
        [22, 1],
        [30, 3],
      ] as const)
        bytes.writeUInt32LE(value, at)
      bytes.writeUInt16LE(32, 28)
      for (const [i, each] of [0xff0000, 0xff00, 0xff, mask].entries()) bytes.writeUInt32LE(each, 54 + 4 * i)
      bytes.set(pixels, 122)
      return bytes
    }
    const shown = async (bytes: Buffer) => [
      ...(await sharp((await bmp.decode(bytes, options)).bytes)
        .raw()
        .toBuffer()),
    ]
    const half = [1, 2, 3, 128, 4, 5, 6, 255]
    expect(bmp.facts(withPixels(half))).to.include({ hasAlpha: true })
    expect(await shown(withPixels(half))).to.deep.equal([3, 2, 1, 128, 6, 5, 4, 255])
    expect(await shown(withPixels(half, 0))).to.deep.equal([3, 2, 1, 6, 5, 4])
    expect(await shown(withPixels([1, 2, 3, 0, 4, 5, 6, 0]))).to.deep.equal([3, 2, 1, 6, 5, 4])
  })

  it('decode a JPEG XL upright, whose header has the orientation', async () => {
    const bytes = await fileOf('jxl-turned.jxl')
    expect(jxl.facts(bytes)).to.deep.equal({ width: 48, height: 64, hasAlpha: false })
    const { data, info } = await sharp((await jxl.decode(bytes, options)).bytes)
      .raw()
      .toBuffer({ resolveWithObject: true })
    expect(info).to.include({ width: 48, height: 64, channels: 3 })
    // `djxl` writes the same: red at the right, blue at the left.
    expect([...data.subarray(0, 3)].map((value) => value >> 6)).to.deep.equal([0, 0, 3])
    expect([...data.subarray(47 * 3, 48 * 3)].map((value) => value >> 6)).to.deep.equal([3, 0, 0])
  })

  it('refuse a JPEG 2000 with transparency, without reading memory of other images', async () => {
    const work = jp2.decode(await fileOf('jp2-alpha.jp2'), options)
    expect(await work.catch((err: Error) => err.message)).to.contain('components is not read')
  })

  it('decode run lengths of a PSD between other pixels', async () => {
    const pixels = await decoded(psd, 'psd-runs.psd')
    const below = await pixelsOf(await fileOf('im.png'))
    for (let x = 0; x < 48; x += 1) {
      const isWhite = (x >= 10 && x <= 20) || x === 24
      const at = (18 * 48 + x) * 3
      expect(pixels[at], String(x)).to.be.closeTo(isWhite ? 255 : (below[at] ?? 0), 1)
    }
  })

  // Photoshop draws transparent pixels on white.
  for (const [name, decoder] of [
    ['psd-alpha.psd', psd],
    ['jxl-alpha.jxl', jxl],
  ] as const) {
    it(`decode the transparency of ${name}, and the colour that is below it`, async () => {
      const bytes = await fileOf(name)
      expect(decoder.facts(bytes)).to.deep.equal({ width: 64, height: 48, hasAlpha: true })
      const pixels = await sharp((await decoder.decode(bytes, options)).bytes)
        .raw()
        .toBuffer()
      for (const x of [16, 32, 60]) {
        const [r = 0, g = 0, b = 0, alpha = 0] = pixels.subarray((24 * 64 + x) * 4)
        expect(r).to.be.closeTo(200, 3)
        expect(g).to.be.closeTo(0, 3)
        expect(b).to.be.closeTo(50, 3)
        expect(alpha).to.be.closeTo((x / 63) * 255, 3)
      }
    })
  }

  it('refuse or decode any changed file, and check the size before they take memory', async function () {
    this.timeout(sized(60_000, 1_200_000))
    const names = {
      jp2: ['im.jp2', 'jp2-deep.jp2', 'jp2-tiles.jp2', 'jp2-bare.j2k', 'jp2-420.jp2', 'jp2-gray.jp2'],
      bmp: ['im.bmp', 'bmp-2.bmp'],
      ico: ['im.ico'],
      jxl: ['jxl-lossless.jxl', 'jxl-alpha.jxl', 'jxl-turned.jxl', 'jxl-deep.jxl', 'jxl-sequence.jxl'],
      psd: ['psd-alpha.psd', 'psd-raw.psd', 'psd-cmyk.psd', 'psd-palette.psd', 'psb.psb'],
    }
    const check = ({ width, height }: { width: number; height: number }) => {
      if (width * height > options.maxPixels) throw new Error('too large')
    }
    for (const [kind, decoder] of Object.entries({ bmp, ico, psd, jxl, jp2 })) {
      const files = await Promise.all(names[kind as keyof typeof names].map(fileOf))
      for (const bytes of mutated(files, { count: sized(6, 2000), spared: 0 })) {
        decoder.facts(bytes)
        const outcome = await decoder.decode(bytes, { ...options, check }).catch((err: Error) => err)
        if (!(outcome instanceof Error)) expect(outcome.bytes.length).to.be.below(5_100_000)
      }
    }
  })
})

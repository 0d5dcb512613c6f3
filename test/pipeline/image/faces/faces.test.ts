import { expect } from 'chai'
import sharp from 'sharp'
import type { Box, Size } from '../../../../src/core/geometry/box.ts'
import type { LoadedDetector } from '../../../../src/pipeline/load/load.ts'
import { itLong, sized } from '../../../support/sized.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { transformed } from '../transform.ts'
import { type Picture, pictures } from './pictures.ts'

describe('the detector of faces', () => {
  let detector: LoadedDetector
  before(async () => {
    const loaded = await loadWith({})
    if (!loaded.detector) throw new Error('no detector is shipped')
    detector = loaded.detector
  })

  const detect = async (bytes: Buffer) => {
    const { width, height } = await sharp(bytes).metadata()
    const source = { width, height } as Parameters<typeof detector.plugin.detect>[1]['source']
    const context = { source, options: {}, signal: new AbortController().signal, log: null as never }
    return detector.plugin.detect(sharp(bytes), context)
  }

  /** The part of the picture that `func=face` delivers. */
  const cut = async ({ bytes, size, query }: Picture): Promise<Box> => {
    // A map is cropped in place of the picture: its red and green are the place of each pixel.
    const ofPicture: LoadedDetector = {
      ...detector,
      plugin: { ...detector.plugin, detect: (_, context) => detector.plugin.detect(sharp(bytes), context) },
    }
    const { bytes: part } = await transformed(await map(size), `${query}&func=face`, { detector: ofPicture })
    return partOf(part, size)
  }

  it(`keeps the faces of ${sized('every tenth picture', 'at least 18 of 20 pictures')}`, async () => {
    const all = await pictures()
    expect(all).to.have.length(20)
    const wrong: string[] = []
    for (const one of all.filter((_, i) => i % sized(10, 1) === 0)) {
      expect(one.faces, one.name).to.not.have.length(0)
      const part = await cut(one)
      const lost = one.faces.filter((face) => !contains(part, face))
      if (lost.length > 0) wrong.push(`${one.name}: ${JSON.stringify({ part, lost })}`)
    }
    expect(wrong, wrong.join('\n')).to.have.length.at.most(sized(0, 2))
  })

  it('limits zoom, so that it frames all faces', async () => {
    const zoomed = (await pictures()).at(-1) as Picture
    const part = await cut(zoomed)
    expect(part.width).to.be.within(0.6 * zoomed.size.width, 0.8 * zoomed.size.width)
    const { bytes } = zoomed
    const { metadata } = await transformed(bytes, 'z=10&func=face&w=100&h=100', { format: 'jpeg', detector })
    expect(metadata).to.include({ width: 100, height: 100 })
  })

  it('finds a face that fills the picture as one', async () => {
    const { bytes, faces } = (await pictures())[9] as Picture
    const [face] = faces as [Box]
    const found = await detect(bytes)
    expect(found).to.have.length(1)
    expect((found[0] as Box).width).to.be.within(0.8 * face.width, 1.5 * face.width)
  })

  itLong('finds no faces in patterns, in noise, and in images with extreme sides', async () => {
    const noise = await sharp({
      create: {
        width: 300,
        height: 200,
        channels: 3,
        background: '#888',
        noise: { type: 'gaussian', mean: 128, sigma: 60 },
      },
    })
      .png()
      .toBuffer()
    expect(await detect(noise)).to.deep.equal([])
    expect(await detect(await map({ width: 400, height: 300 }))).to.deep.equal([])
    for (const [width, height] of [
      [1, 1],
      [5000, 1],
      [1, 5000],
      [33, 31],
    ] as const) {
      const image = sharp({ create: { width, height, channels: 3, background: '#a52' } })
      expect(await detect(await image.png().toBuffer()), `${width} x ${height}`).to.deep.equal([])
    }
  })

  itLong('finds the same faces in grey, transparent, 16-bit and CMYK images', async () => {
    const { bytes, size, faces } = (await pictures()).find(({ name }) => name === 'an astronaut') as Picture
    const circle = Buffer.from(`<svg width="${size.width}" height="${size.height}"><circle r="400"/></svg>`)
    for (const image of [
      sharp(bytes).greyscale().png(),
      sharp(bytes)
        .composite([{ input: circle, blend: 'dest-in' }])
        .png(),
      sharp(bytes).greyscale().ensureAlpha(0.9).png(),
      sharp(bytes).toColourspace('rgb16').png(),
      sharp(bytes).toColourspace('cmyk').jpeg(),
    ]) {
      const { width, height } = size
      const found = (await detect(await image.toBuffer())) as Box[]
      expect(found).to.have.length(1)
      const [box, [face]] = [found[0] as Box, faces as [Box]]
      expect(Math.abs(box.left + box.width / 2 - face.left - face.width / 2)).to.be.below(0.03 * width)
      expect(Math.abs(box.top + box.height / 2 - face.top - face.height / 2)).to.be.below(0.03 * height)
    }
  })

  it('conceals faces, and nothing else', async () => {
    const { bytes, faces } = (await pictures()).find(({ name }) => name === 'an astronaut') as Picture
    const before = await sharp(bytes).png().toBuffer()
    const { bytes: after } = await transformed(before, 'pixelate_faces', { detector })
    const [{ left, top, width, height }] = faces as [Box]
    const whole = (value: number) => Math.round(value)
    const face = { left: whole(left), top: whole(top), width: whole(width), height: whole(height) }
    const below = { left: 0, top: 300, width: 512, height: 200 }
    expect(await difference(before, after, face)).to.be.above(8)
    expect(await difference(before, after, below)).to.equal(0)
  })
})

/** The mean difference of the colours of a part. */
async function difference(a: Buffer, b: Buffer, part: Box): Promise<number> {
  const [left, right] = await Promise.all(
    [a, b].map((bytes) => sharp(bytes).extract(part).removeAlpha().raw().toBuffer()),
  )
  if (!left || !right) throw new Error('both have bytes')
  return left.reduce((sum, value, i) => sum + Math.abs(value - (right[i] as number)), 0) / left.length
}

/** A picture whose colours state the place of each pixel: 0 to 65535 in red and green, from left to right and down. */
async function map({ width, height }: Size): Promise<Buffer> {
  const pixels = new Uint8Array(width * height * 3)
  let at = 0
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      pixels[at++] = (x / width) * 255
      pixels[at++] = (y / height) * 255
      at++
    }
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 1 })
    .toBuffer()
}

/** The box that a part of the map shows. */
async function partOf(bytes: Buffer, { width, height }: Size): Promise<Box> {
  const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
  const at = (x: number, y: number) => {
    const i = (y * info.width + x) * info.channels
    return { x: ((data[i] as number) / 255) * width, y: ((data[i + 1] as number) / 255) * height }
  }
  const [first, last] = [at(0, 0), at(info.width - 1, info.height - 1)]
  return { left: first.x, top: first.y, width: last.x - first.x, height: last.y - first.y }
}

/** Whether the box is in the part, to a pixel of the map's precision. */
function contains(part: Box, box: Box): boolean {
  const ROUNDING = 5
  return (
    box.left >= part.left - ROUNDING &&
    box.top >= part.top - ROUNDING &&
    box.left + box.width <= part.left + part.width + ROUNDING &&
    box.top + box.height <= part.top + part.height + ROUNDING
  )
}

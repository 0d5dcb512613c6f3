import { expect } from 'chai'
import sharp from 'sharp'
import { formatNamed } from '../../../../src/core/media/formats.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { animation, colourAt, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { transformed } from '../transform.ts'

type Colour = [r: number, g: number, b: number, a?: number]

/** One colour all over; half transparent where it has an alpha value. */
async function plain([r, g, b, a]: Colour): Promise<Buffer> {
  const background = { r, g, b, alpha: (a ?? 255) / 255 }
  return sharp({ create: { width: 8, height: 6, channels: a === undefined ? 3 : 4, background } })
    .png()
    .toBuffer()
}

/** What a colour becomes. */
async function become(colour: Colour, query: string): Promise<number[]> {
  const { bytes } = await transformed(await plain(colour), query)
  return Object.values(await colourAt(bytes, 3, 3))
}

function expectNear(actual: readonly number[], expected: readonly number[], about: string): void {
  for (const [i, value] of expected.entries()) {
    expect(actual[i], `${about}: ${actual} for ${expected}`).to.be.closeTo(value, 3)
  }
}

describe('colour parameters of images', () => {
  for (const [query, from, to] of [
    ['negate', [255, 0, 0], [0, 255, 255]],
    ['negate', [10, 100, 200], [245, 155, 55]],
    ['greyscale', [255, 255, 255], [255, 255, 255]],
    // As bright as it looks: green by far brighter than blue.
    ['greyscale', [0, 255, 0], [220, 220, 220]],
    ['grayscale=1', [0, 0, 255], [76, 76, 76]],
    ['gamma=2', [64, 128, 255], [128, 181, 255]],
    ['gamma=3', [0, 32, 255], [0, 128, 255]],
    ['saturation=0.1', [200, 100, 100], [137, 129, 129]],
    ['brightness=2', [60, 60, 60], [120, 120, 120]],
    ['brightness=0.5', [200, 200, 200], [95, 95, 95]],
    ['lightness=20', [60, 60, 60], [107, 107, 107]],
    ['lightness=100', [60, 10, 60], [255, 255, 255]],
    ['hue=180', [200, 100, 100], [0, 148, 161]],
    ['tint=ff0000', [128, 128, 128], [255, 9, 2]],
    ['tint=%23f00', [128, 128, 128], [255, 9, 2]],
    ['tint=red', [255, 255, 255], [255, 255, 255]],
    ['tint=00f', [0, 200, 0], [190, 132, 255]],
    ['tint=transparent&brightness=2', [60, 60, 60], [120, 120, 120]],
    ['hue=360&brightness=2', [60, 60, 60], [120, 120, 120]],
  ] as const satisfies ReadonlyArray<readonly [string, Colour, Colour]>) {
    it(`turn ${from} into ${to} for ${query}`, async () => {
      expectNear(await become([...from], query), [...to, 255], query)
    })

    it(`keep partial transparency: ${query} of ${from}`, async () => {
      expectNear(await become([...from, 100], query), [...to, 100], query)
    })
  }

  it('normalise the luminance between two percentiles', async () => {
    // A ramp from 64 to 191, of which the outer tenths are cut off.
    const ramp = Buffer.from(Array.from({ length: 256 * 8 }, (_, i) => 64 + Math.floor((i % 256) / 2)))
    const source = await sharp(ramp, { raw: { width: 256, height: 8, channels: 1 } })
      .png()
      .toBuffer()
    const { bytes } = await transformed(source, 'normalize_lower=10&normalize_upper=90')
    const at = async (x: number) => (await colourAt(bytes, x, 4)).r
    expect(await at(5)).to.equal(0)
    expect(await at(250)).to.equal(255)
    expect(await at(128)).to.be.within(115, 140)
    expect(await at(64)).to.be.within(30, 80)
    const { bytes: usual } = await transformed(source, 'normalize_lower=1')
    expect((await colourAt(usual, 20, 4)).r).to.be.within(8, 40)
  })

  it('keep transparency when they normalise', async () => {
    const half = await sharp(await plain([50, 50, 50, 100]))
      .extend({ right: 8, background: { r: 150, g: 150, b: 150, alpha: 1 } })
      .png()
      .toBuffer()
    const { bytes } = await transformed(half, 'normalize_upper=99')
    expectNear(Object.values(await colourAt(bytes, 3, 3)), [7, 7, 7, 100], 'the darker half')
    expectNear(Object.values(await colourAt(bytes, 12, 3)), [249, 249, 249, 255], 'the lighter half')
  })

  for (const query of ['normalize_lower=99', 'normalize_lower=50&normalize_upper=50', 'normalize_upper=1']) {
    it(`refuse percentiles that leave no range between them: ${query}`, async () => {
      const error = await rejection(transformed(await plain([1, 2, 3]), query))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400, code: 'bad_parameter' })
      expect(error)
        .to.have.property('message')
        .that.matches(/an integer below normalize_upper/)
    })
  }

  for (const query of [
    'negate',
    'brightness=0.5',
    'greyscale',
    'gamma=3',
    'tint=red',
    'hue=90',
    'normalize_lower=2',
  ]) {
    it(`keep the white that replaces transparency in an opaque format: ${query}`, async () => {
      const nothing = await plain([255, 0, 0, 0])
      const opaque = await picture({ width: 40, height: 20 })
      for (const f of ['jpeg', 'tiff']) {
        const { bytes } = await transformed(nothing, `${query}&f=${f}&q=100`)
        expectNear(
          Object.values(await colourAt(bytes, 3, 3)),
          [255, 255, 255, 255],
          `${f} of what is transparent`,
        )
        const contained = await transformed(opaque, `${query}&f=${f}&q=100&w=40&h=40&fit=contain`)
        expectNear(Object.values(await colourAt(contained.bytes, 3, 3)), [255, 255, 255, 255], `${f} around`)
      }
    })
  }

  it('count only visible pixels when they normalise', async () => {
    // From 50 to 150, and as much of nothing.
    const seen = await sharp(await plain([50, 50, 50]))
      .extend({ right: 8, background: '#969696' })
      .png()
      .toBuffer()
    const half = await sharp(seen).extend({ bottom: 6, background: '#0000' }).png().toBuffer()
    const { bytes } = await transformed(half, 'normalize_upper=90&f=jpeg&q=100')
    expect((await colourAt(bytes, 12, 2)).r, 'the lighter half').to.be.above(240)
  })

  it('apply all at once, to an opaque and to a transparent image', async () => {
    const query =
      'negate&greyscale&gamma=2&saturation=2&hue=90&normalize_lower=2&normalize_upper=98&blur=2&sharpen&lightness=1'
    for (const alpha of [undefined, 90]) {
      const source = alpha === undefined ? await plain([9, 99, 199]) : await plain([9, 99, 199, alpha])
      const { bytes, metadata } = await transformed(source, query)
      expect(metadata).to.include({ width: 8, height: 6 })
      const { r, g, b, a } = await colourAt(bytes, 3, 3)
      expect(r === g && g === b, `grey: ${[r, g, b]}`).to.equal(true)
      expect(a).to.equal(alpha ?? 255)
    }
  })

  for (const query of [
    'negate',
    'greyscale',
    'tint=red',
    'gamma=2',
    'hue=90',
    'normalize_lower=2',
    'blur=3',
    'sharpen',
    'blur=90',
    'sharpen_sigma=2',
  ]) {
    for (const format of ['gif', 'webp'] as const) {
      it(`keep the frames of a ${format} and their timing: ${query}`, async () => {
        const frames = await animation({ format })
        const timed = await sharp(frames, { animated: true })
          [format]({ delay: [50, 200, 110], loop: 3 })
          .toBuffer()
        const { metadata } = await transformed(timed, query, { format })
        expect(metadata).to.include({ pages: 3, width: 40, height: 30, format, loop: 3 })
        expect(metadata.delay).to.deep.equal([50, 200, 110])
      })
    }
  }

  it('invert every frame of an animation', async () => {
    const { bytes } = await transformed(await animation(), 'negate', { format: 'gif' })
    for (const [page, expected] of [
      [0, 255, 255],
      [255, 0, 255],
      [255, 255, 0],
    ].entries()) {
      const frame = await sharp(bytes, { page, pages: 1 }).png().toBuffer()
      expectNear(Object.values(await colourAt(frame, 20, 15)), expected, `frame ${page}`)
    }
  })

  it('accept an image of one channel', async () => {
    const grey = await sharp(await plain([60, 60, 60]))
      .toColourspace('b-w')
      .png()
      .toBuffer()
    for (const [query, value] of [
      ['negate', 195],
      ['brightness=2', 120],
      ['gamma=2', 124],
      ['greyscale', 60],
      ['tint=808080', 60],
    ] as const) {
      const { bytes } = await transformed(grey, query)
      expectNear(Object.values(await colourAt(bytes, 3, 3)), [value, value, value, 255], query)
    }
  })

  it('give a hue to an image of one channel', async () => {
    const grey = await sharp(await plain([128, 128, 128]))
      .toColourspace('b-w')
      .png()
      .toBuffer()
    const { bytes } = await transformed(grey, 'tint=red')
    expectNear(Object.values(await colourAt(bytes, 3, 3)), [255, 9, 2, 255], 'tinted')
  })

  it('keep the transparency of a grey image through a second pass', async () => {
    const { transforms } = await loadWith({
      'later.js': `export default {
        name: 'later', engine: 'sharp', phase: 'compose', newPass: true,
        params: { later: { type: 'flag', help: 'Begins a new pass' } },
        transform(image, _, { source }) {
          if (!source.hasAlpha) throw new Error('the alpha channel is lost')
          return image.flop()
        },
      }`,
    })
    const { bytes } = await transformed(await plain([0, 255, 0, 100]), 'greyscale&later', { transforms })
    expectNear(Object.values(await colourAt(bytes, 3, 3)), [220, 220, 220, 100], 'grey, half transparent')
  })

  it('keep the transparency of an inverted grey image, and of a grey animation, through a second pass', async () => {
    const { bytes } = await transformed(await plain([0, 255, 0, 100]), 'greyscale&negate&text=i&text_size=4')
    expectNear(Object.values(await colourAt(bytes, 1, 1)), [35, 35, 35, 100], 'grey negative')
    const frames = await animation({ colours: ['#f008', '#0f08', '#00f8'], format: 'webp' })
    const moved = await transformed(frames, 'greyscale&blur=2&lossless', { format: 'webp' })
    expect(moved.metadata).to.include({ pages: 3, width: 40, height: 30 })
    for (const [page, value] of [127, 220, 76].entries()) {
      const frame = await sharp(moved.bytes, { page, pages: 1 }).png().toBuffer()
      expectNear(Object.values(await colourAt(frame, 20, 15)), [value, value, value, 136], `frame ${page}`)
    }
  })

  it('give equal results equal keys, and omit parameters without effect', async () => {
    const { transforms } = await loadWith({})
    const format = formatNamed('png')
    if (!format) throw new Error('png is known')
    const variant = (query: string) =>
      createPlanner(transforms, [])({ query: new URLSearchParams(query), format, preferences: {} }).variant
    for (const [query, expected] of [
      ['gamma=1', 'default'],
      ['gamma=1.50', 'gamma=1.5'],
      ['hue=360', 'default'],
      ['saturation=1&brightness=1.0', 'default'],
      ['saturation=1&hue=90', 'hue=90'],
      ['negate=0', ''],
      ['grayscale=true', 'greyscale=1'],
      ['normalize_upper=99', 'normalize_lower=1'],
      ['normalize_lower=1', 'normalize_lower=1'],
      ['normalize_lower=1&normalize_upper=80', 'normalize_upper=80'],
      ['tint=red', 'tint=ff0000'],
      ['tint=f008', 'tint=ff0000'],
      ['tint=transparent', 'default'],
      ['sharpen', 'sharpen=1'],
      ['sharpen=auto', 'default'],
      ['sharpen=AUTO&w=9', 'sharpen=auto&w=9'],
      ['sharpen&sharpen_sigma=2', 'sharpen_sigma=2'],
      ['blur=0.5', 'blur=0.5'],
    ] as const) {
      expect(variant(query), query).to.equal(expected)
    }
  })

  for (const [name, expected, values] of [
    ['normalize_lower', 'an integer from 1 to 99', ['0', '100', '1.5', '', 'abc', '-1']],
    ['normalize_upper', 'an integer from 1 to 99', ['0', '100']],
    ['gamma', 'a number from 1 to 3', ['0.9', '3.1', '', 'x']],
    ['saturation', 'a number from 0.1 to 10', ['0', '0.09', '10.1']],
    ['brightness', 'a number from 0.1 to 10', ['0', '-1', '11']],
    ['lightness', 'a number from 0.1 to 100 percent', ['0', '100.5']],
    ['hue', 'an integer from 1 to 360 degrees', ['0', '361', '1.5']],
    ['blur', 'a number from 0.3 to 1000 px', ['0', '0.29', '1001', '']],
    ['sharpen_sigma', 'a number from 0.3 to 10 px', ['0.2', '10.1']],
    [
      'tint',
      'a colour: 3, 4, 6 or 8 hexadecimal digits, a CSS name or transparent',
      ['', 'f', 'rouge', '12345'],
    ],
    ['sharpen', 'no value, 1, 0 or auto', ['2', 'yes']],
    ['greyscale', 'no value, 1 or 0', ['2']],
    ['negate', 'no value, 1 or 0', ['-1']],
  ] as const) {
    it(`describe the accepted values of ${name}`, async () => {
      for (const value of values) {
        const error = await rejection(transformed(await picture(), `${name}=${value}`))
        expect(error).to.have.property(
          'message',
          `expected ${expected} for ${name} but received ${JSON.stringify(value)}`,
        )
        expect(error).to.include({ status: 400, code: 'bad_parameter' })
      }
    })
  }
})

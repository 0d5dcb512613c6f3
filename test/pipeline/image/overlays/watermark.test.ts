import { expect } from 'chai'
import sharp from 'sharp'
import type { Asset } from '../../../../src/core/bytes/asset.ts'
import { Problem, unavailable } from '../../../../src/core/problem.ts'
import { animation, colourAt, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { assetOf, transformed } from '../transform.ts'

const MARK = 'image/png/7JAiMJ5xg1xH6JYSiPjo5R.png'

/** One colour, opaque by default. */
async function plain(width: number, height: number, background: string, format = 'png' as 'png' | 'jpeg') {
  return sharp({ create: { width, height, channels: 4, background } })
    .toFormat(format)
    .toBuffer()
}

describe('image-watermark', () => {
  let base: Buffer
  let red: Asset
  before(async () => {
    base = await sharp(await plain(200, 100, '#0000ff'))
      .removeAlpha()
      .png()
      .toBuffer()
    red = assetOf(await plain(40, 20, '#ff0000'), 'png')
  })

  const marked = (query: string, { source = base, mark = red, format = 'png' } = {}) =>
    transformed(source, `wm=${MARK}&${query}`, { format, assets: { [MARK]: mark } })

  /** The box that is red, as `left,top,width,height`; the rest is blue. */
  async function redBox(bytes: Buffer): Promise<string> {
    const { data, info } = await sharp(bytes).removeAlpha().raw().toBuffer({ resolveWithObject: true })
    let [left, top, right, bottom, count] = [info.width, info.height, -1, -1, 0]
    for (let i = 0; i < data.length; i += 3) {
      if ((data[i] ?? 0) < 128) continue
      const [x, y] = [(i / 3) % info.width, Math.floor(i / 3 / info.width)]
      left = Math.min(left, x)
      top = Math.min(top, y)
      right = Math.max(right, x)
      bottom = Math.max(bottom, y)
      count += 1
    }
    const [width, height] = [right - left + 1, bottom - top + 1]
    // WebP has one colour for four pixels: it blurs the corners.
    expect(count, 'all of the box is red').to.be.at.least(0.9 * width * height)
    return [left, top, width, height].join()
  }

  for (const [query, box] of [
    ['', '75,37,50,25'],
    ['wm_pos=center', '75,37,50,25'],
    ['wm_pos=centre&wm_size=20', '80,40,40,20'],
    ['wm_pos=northwest&wm_size=10', '0,0,20,10'],
    ['wm_pos=north&wm_size=10', '90,0,20,10'],
    ['wm_pos=northeast&wm_size=10', '180,0,20,10'],
    ['wm_pos=east&wm_size=10', '180,45,20,10'],
    ['wm_pos=southeast&wm_size=10', '180,90,20,10'],
    ['wm_pos=south&wm_size=10', '90,90,20,10'],
    ['wm_pos=southwest&wm_size=10', '0,90,20,10'],
    ['wm_pos=west&wm_size=10', '0,45,20,10'],
    ['wm_size=100', '0,0,200,100'],
    ['wm_size=1&wm_pos=northwest', '0,0,2,1'],
    // Percent of what comes out, whatever came in.
    ['w=100&wm_size=50&wm_pos=southeast', '50,25,50,25'],
    ['w=50&h=50&wm_size=40&wm_pos=northwest', '0,0,20,10'],
    ['wm_pos=tile&wm_size=10', '0,0,200,100'],
  ] as const) {
    it(`is at ${box} for ${query || 'no more words'}`, async () => {
      expect(await redBox((await marked(query)).bytes)).to.equal(box)
    })
  }

  it('is never higher than the image', async () => {
    const tall = assetOf(await plain(20, 80, '#f00'), 'png')
    expect(await redBox((await marked('wm_size=100', { mark: tall })).bytes)).to.equal('87,0,25,100')
  })

  it('is tiled from the top left, also with partial tiles', async () => {
    // Its left half is red, its right half nothing.
    const half = await sharp(await plain(20, 40, '#f00'))
      .extend({ right: 20, background: '#0000' })
      .png()
      .toBuffer()
    const { bytes } = await marked('wm_pos=tile&wm_size=15', { mark: assetOf(half, 'png') })
    for (const [x, y, value] of [
      [5, 5, 255],
      [22, 5, 0],
      [35, 95, 255],
      [52, 95, 0],
      [185, 50, 255],
      [198, 50, 0],
    ] as const) {
      expect((await colourAt(bytes, x, y)).r, `at ${x},${y}`).to.be.closeTo(value, 6)
    }
  })

  for (const [opacity, alpha, expected] of [
    [100, 255, 255],
    [50, 255, 128],
    [1, 255, 3],
    [100, 128, 128],
    [50, 128, 64],
  ] as const) {
    it(`shows ${expected} of 255 of a watermark with alpha ${alpha} and opacity ${opacity}`, async () => {
      const mark = await sharp({
        create: {
          width: 10,
          height: 10,
          channels: 4,
          background: { r: 255, g: 0, b: 0, alpha: alpha / 255 },
        },
      })
        .png()
        .toBuffer()
      const { bytes } = await marked(`wm_opacity=${opacity}`, { mark: assetOf(mark, 'png') })
      const { r, b, a } = await colourAt(bytes, 100, 50)
      expect(r).to.be.closeTo(expected, 2)
      expect(b).to.be.closeTo(255 - expected, 2)
      expect(a).to.equal(255)
    })
  }

  it('does nothing, and reads no file, without wm or with an opacity of 0', async () => {
    const unmarked = await transformed(base, 'f=png')
    for (const query of [`wm=${MARK}&wm_opacity=0`, 'wm_pos=tile&wm_size=50&wm_opacity=50']) {
      expect((await transformed(base, query)).bytes.equals(unmarked.bytes), query).to.equal(true)
    }
  })

  it('keeps an opaque image opaque, and keeps the transparency of another', async () => {
    expect((await marked('')).metadata.hasAlpha).to.equal(false)
    const clear = await plain(200, 100, '#0000ff40')
    const { bytes, metadata } = await marked('wm_size=10', { source: clear })
    expect(metadata.hasAlpha).to.equal(true)
    expect((await colourAt(bytes, 5, 5)).a).to.equal(64)
    expect(await colourAt(bytes, 100, 50)).to.deep.equal({ r: 255, g: 0, b: 0, a: 255 })
  })

  it('is not changed by effects', async () => {
    const { bytes } = await marked('negate&greyscale&blur=5&wm_size=10')
    expect(await colourAt(bytes, 100, 50)).to.deep.equal({ r: 255, g: 0, b: 0, a: 255 })
    const { r, g, b } = await colourAt(bytes, 10, 10)
    expect([r, g]).to.deep.equal([b, b])
  })

  it('accepts every kind of image as a watermark', async () => {
    const colours = { r: 255, g: 0, b: 0 }
    const svg = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"><rect width="4" height="2" fill="#f00"/></svg>',
    )
    const deep = await sharp(await plain(9, 9, '#f00'))
      .toColourspace('rgb16')
      .png()
      .toBuffer()
    const moving = await animation({ colours: ['#f00', '#0f0'] })
    const turned = await picture({ width: 40, height: 20, orientation: 6, format: 'jpeg' })
    for (const [name, format, bytes] of [
      ['jpeg', 'jpeg', await plain(9, 9, '#f00', 'jpeg')],
      ['svg', 'svg', svg],
      ['16 bits', 'png', deep],
      ['its first frame', 'gif', moving],
    ] as const) {
      const { r, g, b } = await colourAt((await marked('', { mark: assetOf(bytes, format) })).bytes, 100, 50)
      expect(r, name).to.be.closeTo(colours.r, 2)
      expect(g + b, name).to.be.below(5)
    }
    const grey = await sharp(await plain(9, 9, '#808080'))
      .toColourspace('b-w')
      .png()
      .toBuffer()
    const { r, g, b } = await colourAt((await marked('', { mark: assetOf(grey, 'png') })).bytes, 100, 50)
    expect([r, g, b]).to.deep.equal([128, 128, 128])
    // Lying on its side by its orientation: 20 x 40 once it is upright, blue at its top right no more.
    const upright = await marked('wm_size=100', { mark: assetOf(turned, 'jpeg') })
    expect(await colourAt(upright.bytes, 74, 50)).to.include({ r: 0, b: 255 })
    expect((await colourAt(upright.bytes, 80, 10)).r).to.be.above(200)
  })

  for (const format of ['gif', 'webp'] as const) {
    it(`is on every frame of a ${format}, which keeps its timing`, async () => {
      const frames = await animation({ colours: ['#00f', '#007', '#005'], format })
      const timed = await sharp(frames, { animated: true })
        [format]({ delay: [50, 200, 110] })
        .toBuffer()
      for (const [query, box] of [
        ['wm_size=50&wm_pos=southeast', '20,20,20,10'],
        ['wm_size=25', '15,12,10,5'],
      ] as const) {
        const { bytes, metadata } = await marked(`${query}&q=100`, { source: timed, format })
        expect(metadata).to.include({ pages: 3, width: 40, height: 30, format })
        expect(metadata.delay).to.deep.equal([50, 200, 110])
        for (const page of [0, 1, 2]) {
          const frame = await sharp(bytes, { page, pages: 1 }).png().toBuffer()
          expect(await redBox(frame), `frame ${page}`).to.equal(box)
        }
      }
    })
  }

  it('is tiled on every frame', async () => {
    // Red above, nothing below: 20 x 20 px, three halves of which make a frame.
    const half = await sharp(await plain(40, 20, '#f00'))
      .extend({ bottom: 20, background: '#0000' })
      .png()
      .toBuffer()
    const source = await animation({ colours: ['#00f', '#007', '#005'] })
    const { bytes } = await marked('wm_size=50&wm_pos=tile', {
      source,
      mark: assetOf(half, 'png'),
      format: 'gif',
    })
    for (const page of [0, 1, 2]) {
      const frame = await sharp(bytes, { page, pages: 1 }).png().toBuffer()
      for (const [y, value] of [
        [5, 255],
        [15, 0],
        [25, 255],
      ] as const) {
        expect((await colourAt(frame, 30, y)).r, `frame ${page} at ${y}`).to.be.closeTo(value, 10)
      }
    }
  })

  describe('an unusable watermark', () => {
    const refused = async (mark: Asset, limits = {}) =>
      rejection(transformed(base, `wm=${MARK}`, { assets: { [MARK]: mark }, limits }))

    for (const [what, bytes, format, limits, reason] of [
      ['is broken', Buffer.from('\x89PNG\r\n\x1a\nno more'), 'png', {}, /can be decoded/],
      ['is truncated', undefined, 'png', {}, /cannot be drawn/],
      ['is too large a file', undefined, 'png', { sourceMaxBytes: 700 }, /at most 700 bytes/],
      ['has too many pixels', undefined, 'png', { sourceMaxPixels: 30_000 }, /at most 30000 pixels/],
      [
        'nests too deep',
        Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${'<g opacity="0.5">'.repeat(40)}</svg>`),
        'svg',
        {},
        /SVG/,
      ],
    ] as const) {
      it(`responds 422 with wm when it ${what}`, async () => {
        const noise = { type: 'gaussian' as const, mean: 128, sigma: 30 }
        const large = await sharp({
          create: { width: 200, height: 180, channels: 3, background: '#000', noise },
        })
          .png()
          .toBuffer()
        const given = bytes ?? (what === 'is truncated' ? large.subarray(0, large.length / 2) : large)
        const error = await refused(assetOf(given, format), limits)
        expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
        expect(error).to.have.nested.property('members.param', 'wm')
        expect((error as Error).message).to.match(/^The file of wm cannot be used: /)
        expect((error as Error).message).to.match(reason)
      })
    }

    it('does not hide errors that are not its own', async () => {
      const outage = unavailable('the bucket is away')
      expect(await refused({ ...red, open: () => Promise.reject(outage) })).to.equal(outage)
    })
  })
})

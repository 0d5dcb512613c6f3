import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { animation, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { transformed } from '../transform.ts'
import { corners } from './corners.ts'

describe('image-resize', () => {
  let wide: Buffer
  let tall: Buffer
  before(async () => {
    wide = await picture({ width: 400, height: 200 })
    tall = await picture({ width: 200, height: 400 })
  })

  for (const [query, width, height, shown] of [
    // One side: the other follows.
    ['w=100', 100, 50, 'rgbw'],
    ['h=100', 200, 100, 'rgbw'],
    ['width=1', 1, 1, undefined],
    ['w=133', 133, 67, 'rgbw'],
    // Never larger than it is.
    ['w=400', 400, 200, 'rgbw'],
    ['w=401', 400, 200, 'rgbw'],
    ['w=5000', 400, 200, 'rgbw'],
    ['h=5000', 400, 200, 'rgbw'],
    ['w=5000&h=5000&fit=inside', 400, 200, 'rgbw'],
    ['w=5000&h=5000&fit=outside', 400, 200, 'rgbw'],
    // cover: cut to the shape of the box, from the middle; the default of both sides.
    ['w=100&h=100', 100, 100, 'rgbw'],
    ['w=100&h=100&fit=cover', 100, 100, 'rgbw'],
    ['w=50&h=150', 50, 150, 'rgbw'],
    ['w=300&h=60&fit=cover', 300, 60, 'rgbw'],
    // A box that the picture does not fill keeps its shape, as large as the picture fills it.
    ['w=400&h=400', 200, 200, 'rgbw'],
    ['w=5000&h=2500', 400, 200, 'rgbw'],
    ['w=1000&h=250', 400, 100, 'rgbw'],
    ['w=300&h=600&fit=cover', 100, 200, 'rgbw'],
    ['w=5000&h=1', 400, 1, undefined],
    // contain: all of it, within a box of exactly this size.
    ['w=100&h=100&fit=contain', 100, 100, '----'],
    ['w=100&h=50&fit=contain', 100, 50, 'rgbw'],
    ['w=300&h=50&fit=contain', 300, 50, '----'],
    // fill: stretched.
    ['w=100&h=100&fit=fill', 100, 100, 'rgbw'],
    ['w=20&h=200&fit=fill', 20, 200, 'rgbw'],
    ['w=800&h=200&fit=fill', 400, 100, 'rgbw'],
    ['w=800&h=800&fit=fill', 200, 200, 'rgbw'],
    // inside and outside: all of it, in its own shape.
    ['w=100&h=100&fit=inside', 100, 50, 'rgbw'],
    ['w=300&h=50&fit=inside', 100, 50, 'rgbw'],
    ['w=100&h=100&fit=outside', 200, 100, 'rgbw'],
    ['w=300&h=50&fit=outside', 300, 150, 'rgbw'],
    // fit with one side changes nothing.
    ['w=100&fit=contain', 100, 50, 'rgbw'],
    ['h=100&fit=fill', 200, 100, 'rgbw'],
    ['fit=fill', 400, 200, 'rgbw'],
    // dpr multiplies both.
    ['w=50&dpr=2', 100, 50, 'rgbw'],
    ['w=50&h=50&dpr=3', 150, 150, 'rgbw'],
    ['w=33&dpr=1.5', 50, 25, 'rgbw'],
    ['w=100&dpr=1', 100, 50, 'rgbw'],
    ['h=25&w=25&dpr=2&fit=contain', 50, 50, '----'],
    ['dpr=3', 400, 200, 'rgbw'],
  ] as const) {
    it(`turns 400 x 200 into ${width} x ${height} for ${query}`, async () => {
      const { metadata, bytes } = await transformed(wide, query)
      expect([metadata.width, metadata.height]).to.deep.equal([width, height])
      if (shown) expect(await corners(bytes)).to.equal(shown)
    })

    it(`turns 200 x 400 into ${height} x ${width} for ${query} with the sides exchanged`, async () => {
      const other = query.replace(/\b(w|h|width)=/g, (_, name) => (name === 'h' ? 'w=' : 'h='))
      const { metadata } = await transformed(tall, other)
      expect([metadata.width, metadata.height]).to.deep.equal([height, width])
    })
  }

  it('keeps the middle when it crops, without distortion', async () => {
    // Three equal stripes; a square cut from the middle of 300 x 100 is the middle one.
    const stripe = (background: string, left: number) => ({
      input: { create: { width: 100, height: 100, channels: 3 as const, background } },
      left,
      top: 0,
    })
    const stripes = await sharp({ create: { width: 300, height: 100, channels: 3, background: '#f00' } })
      .composite([stripe('#0f0', 100), stripe('#00f', 200)])
      .png()
      .toBuffer()
    for (const query of ['w=50&h=50', 'w=500&h=500']) {
      expect(await corners((await transformed(stripes, query)).bytes), query).to.equal('gggg')
    }
  })

  it('centres a contained image on a transparent canvas, without enlarging it', async () => {
    const small = await picture({ width: 40, height: 20 })
    const { bytes, metadata } = await transformed(small, 'w=100&h=60&fit=contain')
    expect(metadata).to.include({ width: 100, height: 60, hasAlpha: true })
    const middle = await sharp(bytes).extract({ left: 30, top: 20, width: 40, height: 20 }).png().toBuffer()
    expect(await corners(middle)).to.equal('rgbw')
    const { info } = await sharp(bytes).trim({ background: '#0000' }).toBuffer({ resolveWithObject: true })
    expect([info.width, info.height]).to.deep.equal([40, 20])
  })

  for (const target of ['jpeg', 'tiff']) {
    it(`contains on white in a format without transparency: ${target}`, async () => {
      for (const source of ['jpeg', 'png'] as const) {
        const small = await picture({ width: 40, height: 20, format: source })
        const { bytes, metadata } = await transformed(small, `w=60&h=60&fit=contain&f=${target}&q=100`, {
          format: source,
        })
        expect(metadata).to.include({ width: 60, height: 60, format: target, hasAlpha: false })
        expect(await corners(bytes)).to.equal('wwww')
        const middle = await sharp(bytes)
          .extract({ left: 10, top: 20, width: 40, height: 20 })
          .png()
          .toBuffer()
        expect(await corners(middle)).to.equal('rgbw')
      }
    })
  }

  it('limits the side that is not given', async () => {
    const strip = await sharp({ create: { width: 10, height: 6000, channels: 3, background: '#f00' } })
      .png()
      .toBuffer()
    const { metadata } = await transformed(strip, 'w=10')
    expect([metadata.width, metadata.height]).to.deep.equal([8, 5000])
    const lying = await sharp(strip).rotate(90).png().toBuffer()
    expect((await transformed(lying, 'h=10')).metadata).to.include({ width: 5000, height: 8 })
  })

  for (const [query, received] of [
    ['w=2501&dpr=2', '2 (2501 x 2 px)'],
    ['h=1667&dpr=3', '3 (1667 x 3 px)'],
    ['w=10&h=4000&dpr=1.5', '1.5 (4000 x 1.5 px)'],
  ] as const) {
    it(`refuses ${query}, which would be too large`, async () => {
      const error = await rejection(transformed(wide, query))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400, code: 'bad_parameter' })
      expect(error).to.have.property(
        'message',
        `expected a number that keeps w and h within 5000 px for dpr but received "${received}"`,
      )
    })
  }

  it('accepts the largest allowed size', async () => {
    expect((await transformed(wide, 'w=2500&dpr=2')).metadata.width).to.equal(400)
    expect((await transformed(wide, 'w=5000&h=5000')).metadata.width).to.equal(200)
  })

  it('resizes every frame of an animation', async () => {
    const gif = await animation({ width: 40, height: 30 })
    for (const [query, width, height] of [
      ['w=20', 20, 15],
      ['w=10&h=10', 10, 10],
      ['w=400&h=400', 30, 30],
      ['w=20&h=20&fit=contain', 20, 20],
    ] as const) {
      const { metadata } = await transformed(gif, query, { format: 'gif' })
      expect(metadata, query).to.include({ pages: 3, width, format: 'gif' })
      expect(metadata.pageHeight ?? metadata.height, query).to.equal(height)
    }
  })

  it('refuses a box for an animation with too many pixels over all frames', async () => {
    const moving = await animation({ width: 40, height: 30 })
    const contained = (query: string, limits = {}) =>
      rejection(transformed(moving, `${query}&fit=contain`, { format: 'gif', limits }))
    const error = await contained('w=5000&h=5000')
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
    expect(error).to.have.property(
      'message',
      'expected w and h that result in at most 50000000 pixels over all frames but the output would have 75000000 (5000 x 5000 px, 3 frames). Request a smaller size.',
    )
    expect(await contained('w=50&h=40', { outputMaxPixels: 5999 })).to.have.property('status', 422)
  })

  it('accepts a box of exactly the pixel limit, and counts one frame when one is requested', async () => {
    const moving = await animation({ width: 40, height: 30 })
    for (const [query, outputMaxPixels, pages] of [
      ['w=50&h=40', 6000, 3],
      ['w=50&h=40&f=png', 2000, undefined],
    ] as const) {
      const options = { format: 'gif', limits: { outputMaxPixels } }
      const { metadata } = await transformed(moving, `${query}&fit=contain`, options)
      expect(metadata).to.include({ width: 50, height: 40 })
      expect(metadata.pages).to.equal(pages)
    }
  })
})

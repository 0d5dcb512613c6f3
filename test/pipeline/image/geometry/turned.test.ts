import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { animation, colourAt, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { everyNth } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'
import { corners } from './corners.ts'

describe('image-rotate, image-flip and image-flop', () => {
  let wide: Buffer
  before(async () => {
    wide = await picture({ width: 400, height: 200 })
  })

  for (const [query, width, height, shown] of [
    ['rotate=90', 200, 400, 'wrgb'],
    ['rotate=180', 400, 200, 'bwrg'],
    ['rotate=270', 200, 400, 'gbwr'],
    ['rotate=-90', 200, 400, 'gbwr'],
    ['rotate=360', 400, 200, 'rgbw'],
    ['rotate=90.0', 200, 400, 'wrgb'],
    ['flip', 400, 200, 'wbgr'],
    ['flop', 400, 200, 'grwb'],
    ['flip&flop', 400, 200, 'bwrg'],
    ['flip=0', 400, 200, 'rgbw'],
    // Turned, then mirrored.
    ['rotate=90&flip', 200, 400, 'bgrw'],
    ['rotate=90&flop', 200, 400, 'rwbg'],
    ['rotate=90&flip&flop', 200, 400, 'gbwr'],
    // Of what has been resized and cut.
    ['w=100&rotate=90', 50, 100, 'wrgb'],
    ['w=100&flip', 100, 50, 'wbgr'],
    ['w=50&h=50&func=west&flop', 50, 50, 'rrww'],
    ['w=50&h=50&func=west&rotate=90', 50, 50, 'wrrw'],
    ['w=50&h=50&fy=0&z=2&flip', 50, 50, 'rggr'],
    ['crop=0,0,200,200&rotate=90', 200, 200, 'wrrw'],
    ['crop=0,0,400,100&flop', 400, 100, 'grrg'],
  ] as const) {
    it(`show ${shown} at ${width} x ${height} for ${query}`, async () => {
      const { bytes, metadata } = await transformed(wide, query)
      expect([metadata.width, metadata.height]).to.deep.equal([width, height])
      expect(await corners(bytes)).to.equal(shown)
    })
  }

  for (const [angle, width, height] of everyNth(2, [
    [45, 424, 424],
    [30, 446, 373],
    [-30, 446, 373],
    [1, 403, 207],
    [0.3, 401, 202],
  ] as const)) {
    it(`turn by ${angle} degrees, with transparent corners`, async () => {
      const { bytes, metadata } = await transformed(wide, `rotate=${angle}`)
      expect([metadata.width, metadata.height]).to.deep.equal([width, height])
      expect(metadata.hasAlpha).to.equal(true)
      if (Math.abs(angle) > 1) expect(await corners(bytes)).to.equal('----')
    })
  }

  it('turn clockwise', async () => {
    // Red is left of the middle, above: after 45 degrees straight above it.
    const { bytes } = await transformed(await picture({ width: 200, height: 200 }), 'rotate=45')
    const { width = 0 } = await sharp(bytes).metadata()
    const middle = Math.round(width / 2)
    expect(await colourAt(bytes, middle, 40)).to.include({ r: 255, g: 0, b: 0 })
    expect(await colourAt(bytes, width - 40, middle)).to.include({ r: 0, g: 255, b: 0 })
  })

  it('blend slanted edges with the colour of the image, not of transparent pixels', async () => {
    const red = await sharp({ create: { width: 100, height: 60, channels: 3, background: '#c00000' } })
      .png()
      .toBuffer()
    const { bytes } = await transformed(red, 'rotate=30')
    const { data } = await sharp(bytes).ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    let edges = 0
    for (let at = 0; at < data.length; at += 4) {
      const [r = 0, g = 0, , alpha = 0] = data.subarray(at, at + 4)
      if (alpha < 40 || alpha > 215) continue
      edges += 1
      expect(g, `of ${r}, ${g} at alpha ${alpha}`).to.be.below(20)
      expect(r).to.be.above(170)
    }
    expect(edges, 'smooth edges').to.be.above(50)
  })

  for (const query of ['rotate=30&blur=3', 'w=50&h=50&fit=contain&blur=3'])
    it(`mix no colour of transparent pixels into the image: ${query}`, async () => {
      const red = { create: { width: 100, height: 60, channels: 3, background: '#c00000' } } as const
      const { bytes } = await transformed(await sharp(red).jpeg().toBuffer(), `${query}&f=png`, {
        format: 'jpeg',
      })
      const data = await sharp(bytes).ensureAlpha().raw().toBuffer()
      for (let at = 0; at < data.length; at += 4)
        if (Number(data[at + 3]) > 40) expect(data[at + 1], `green at ${at}`).to.be.below(30)
    })

  for (const [query, corner] of [
    ['rotate=30&f=jpeg&q=95', 'wwww'],
    ['rotate=30&bg=00f&f=jpeg&q=95', 'bbbb'],
    ['rotate=30&bg=blue', 'bbbb'],
    ['rotate=30&bg=lime&f=webp', 'gggg'],
  ] as const) {
    it(`fill the corners: ${query}`, async () => {
      const { bytes, metadata } = await transformed(wide, query)
      expect(await corners(bytes)).to.equal(corner)
      expect(metadata.hasAlpha).to.equal(false)
    })
  }

  it('refuse an angle that makes the image too large', async () => {
    const long = await picture({ width: 490, height: 200 })
    const error = await rejection(transformed(long, 'rotate=20', { limits: { outputMaxSide: 500 } }))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422, code: 'not_transformable' })
    expect(error).to.have.property(
      'message',
      'expected an angle that results in at most 500 px a side but the output would have 529 x 356 px. Request a smaller size.',
    )
    const limits = { outputMaxPixels: 400 * 200 + 1 }
    expect(await rejection(transformed(wide, 'rotate=20', { limits }))).to.have.property('status', 422)
    expect((await transformed(wide, 'rotate=90', { limits })).metadata.width).to.equal(200)
  })

  for (const value of ['', '-361', '360.5', 'left']) {
    it(`refuse rotate=${value}`, async () => {
      expect(await rejection(transformed(wide, `rotate=${value}`))).to.have.property(
        'message',
        `expected a number from -360 to 360 degrees for rotate but received "${value}"`,
      )
    })
  }

  for (const format of ['gif', 'webp'] as const) {
    for (const [query, width, height] of everyNth(2, [
      ['rotate=90', 30, 40],
      ['rotate=180', 40, 30],
      ['rotate=45', 49, 49],
      ['flip', 40, 30],
      ['flop', 40, 30],
      ['w=20&rotate=270&flip', 15, 20],
    ] as const)) {
      it(`turn every frame of a ${format} separately: ${query}`, async () => {
        const still = await animation({ width: 40, height: 30, format, colours: ['#f00', '#0f0', '#00f'] })
        const moving = await sharp(still, { animated: true })
          [format]({ delay: [100, 250, 300], loop: 5 })
          .toBuffer()
        const { bytes, metadata } = await transformed(moving, query, { format })
        expect(metadata).to.include({ pages: 3, format, loop: 5 })
        expect(metadata.delay).to.deep.equal([100, 250, 300])
        expect(metadata.width).to.be.closeTo(width, 1)
        expect(metadata.pageHeight ?? metadata.height).to.be.closeTo(height, 1)
        for (const [page, shown] of ['r', 'g', 'b'].entries()) {
          const frame = await sharp(bytes, { page }).png().toBuffer()
          const { width: w = 0, height: h = 0 } = await sharp(frame).metadata()
          const middle = await sharp(frame)
            .extract({ left: Math.floor(w / 2) - 3, top: Math.floor(h / 2) - 3, width: 6, height: 6 })
            .png()
            .toBuffer()
          expect(await corners(middle), `frame ${page}`).to.equal(shown.repeat(4))
          if (query === 'rotate=45') expect(await corners(frame), `frame ${page}`).to.equal('----')
        }
      })
    }
  }

  it('stop between two frames when the time is over', async () => {
    const moving = await animation({ width: 40, height: 30 })
    const error = await rejection(
      transformed(moving, 'rotate=90', { format: 'gif', limits: { timeoutMs: 0.001 } }),
    )
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
    expect(error).to.have.property('message', 'This image takes too long to transform.')
  })

  it('mirror every frame of an animation, not the order of the frames', async () => {
    const moving = await sharp(
      [
        await picture({ width: 40, height: 20 }),
        await sharp(await picture({ width: 40, height: 20 }))
          .negate()
          .png()
          .toBuffer(),
      ],
      {
        join: { animated: true },
      },
    )
      .webp({ lossless: true })
      .toBuffer()
    for (const [query, shown] of [
      ['flip', 'wbgr'],
      ['flop', 'grwb'],
      ['rotate=90', 'wrgb'],
      ['rotate=180', 'bwrg'],
    ] as const) {
      const { bytes } = await transformed(moving, query, { format: 'webp' })
      expect(await corners(await sharp(bytes, { page: 0 }).png().toBuffer()), query).to.equal(shown)
    }
  })
})

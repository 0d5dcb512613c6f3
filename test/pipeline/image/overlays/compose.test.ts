import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { loadChain } from '../../../../config/chain.ts'
import { formatOfMediaType } from '../../../../src/core/media/formats.ts'
import { Problem } from '../../../../src/core/problem.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { animation, colourAt, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { dropIn, loadWith } from '../../load/drop-ins.ts'
import { corners } from '../geometry/corners.ts'
import { transformed } from '../transform.ts'

describe('image-pad', () => {
  let wide: Buffer
  before(async () => {
    wide = await picture({ width: 80, height: 40 })
  })

  for (const [query, width, height, left, top] of [
    ['pad=10', 100, 60, 10, 10],
    ['pad=10,20', 120, 60, 20, 10],
    ['pad=10,20,30', 120, 80, 20, 10],
    ['pad=1,2,3,4', 86, 44, 4, 1],
    ['pad=0,0,0,9', 89, 40, 9, 0],
    ['w=40&pad=10', 60, 40, 10, 10],
    ['w=20&dpr=2&pad=10', 80, 60, 20, 20],
    ['w=20&h=20&pad=5', 30, 30, 5, 5],
    ['rotate=90&pad=5', 50, 90, 5, 5],
  ] as const) {
    it(`turns 80 x 40 into ${width} x ${height} for ${query}`, async () => {
      const { bytes, metadata } = await transformed(wide, query)
      expect([metadata.width, metadata.height]).to.deep.equal([width, height])
      expect(metadata.hasAlpha).to.equal(true)
      const { info } = await sharp(bytes).trim({ background: '#fff0' }).toBuffer({ resolveWithObject: true })
      expect([info.trimOffsetLeft, info.trimOffsetTop].map((offset = 0) => Math.abs(offset))).to.deep.equal([
        left,
        top,
      ])
      expect((await colourAt(bytes, 0, top === 0 ? 5 : 0)).a).to.equal(0)
    })
  }

  it('has the requested colour, white where there is no transparency', async () => {
    for (const [query, shown] of [
      ['pad=9&bg=0f0', 'gggg'],
      ['pad=9&bg=lime&f=jpeg&q=95', 'gggg'],
      ['pad=9&f=jpeg&q=95', 'wwww'],
      ['pad=9', '----'],
    ] as const)
      expect(await corners((await transformed(wide, query)).bytes), query).to.equal(shown)
  })

  it('refuses a result that is too large', async () => {
    const error = await rejection(transformed(wide, 'pad=2500'))
    expect(error).to.be.instanceOf(Problem).that.includes({ status: 422 })
    expect(error).to.have.property('message').that.includes('the output would have 5080 x 5040 px')
    const moving = await animation({ width: 40, height: 30 })
    const limits = { outputMaxPixels: 3 * 60 * 50 - 1 }
    const gif = { format: 'gif', limits }
    expect(await rejection(transformed(moving, 'pad=10', gif))).to.have.property('status', 422)
    expect((await transformed(moving, 'pad=9', gif)).metadata.pages).to.equal(3)
  })

  it('is not changed by effects', async () => {
    const { transforms } = await loadWith({
      'soft.js': dropIn('soft', { transform: '(image) => image.blur(5)' }),
    })
    const { bytes } = await transformed(wide, 'pad=10&soft', { transforms })
    expect((await colourAt(bytes, 9, 30)).a, 'not blurred into the border').to.equal(0)
    expect((await colourAt(bytes, 10, 30)).a).to.equal(255)
  })

  for (const value of ['', '5001', '-1', '1,2,3,4,5', '1,', 'a']) {
    it(`refuses ${JSON.stringify(value)}`, async () => {
      expect(await rejection(transformed(wide, `pad=${value}`))).to.have.property(
        'message',
        `expected 1 to 4 integers top,right,bottom,left (from 0 to 5000 px) for pad but received "${value}"`,
      )
    })
  }

  for (const format of ['gif', 'webp'] as const) {
    it(`pads every frame of a ${format}`, async () => {
      const moving = await animation({ width: 40, height: 30, format })
      const { bytes, metadata } = await transformed(moving, 'w=20&pad=5,6&bg=000', { format })
      expect(metadata).to.include({ pages: 3, width: 32, format })
      expect(metadata.pageHeight ?? metadata.height).to.equal(25)
      for (const [page, r] of [255, 0, 0].entries()) {
        const frame = await sharp(bytes, { page }).png().toBuffer()
        expect(await corners(frame)).to.equal('kkkk')
        expect((await colourAt(frame, 15, 12)).r).to.be.closeTo(r, 5)
      }
    })
  }
})

describe('image-radius', () => {
  const red = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: '#f00' } })
      .png()
      .toBuffer()

  it('turns a square into a circle with smooth edges', async () => {
    for (const query of ['rs=50', 'radius=50', 'rs=100']) {
      const { bytes, metadata } = await transformed(await red(100, 100), query)
      expect(metadata).to.include({ width: 100, height: 100, hasAlpha: true })
      const { data } = await sharp(bytes).raw().toBuffer({ resolveWithObject: true })
      let smooth = 0
      let shown = 0
      for (let y = 0; y < 100; y += 1) {
        for (let x = 0; x < 100; x += 1) {
          const [r, g, , alpha = 0] = data.subarray((y * 100 + x) * 4, (y * 100 + x) * 4 + 4)
          const away = Math.hypot(x - 49.5, y - 49.5)
          if (away < 49) expect(alpha, `${x}, ${y}`).to.equal(255)
          if (away > 51) expect(alpha, `${x}, ${y}`).to.equal(0)
          if (alpha > 0 && alpha < 255) smooth += 1
          if (alpha > 20) expect([r, g]).to.deep.equal([255, 0])
          shown += alpha / 255
        }
      }
      expect(smooth).to.be.within(100, 500)
      expect(shown).to.be.closeTo(Math.PI * 2500, 40)
    }
  })

  it('rounds by percent of each side', async () => {
    const { bytes } = await transformed(await red(200, 100), 'rs=10')
    expect((await colourAt(bytes, 0, 0)).a).to.equal(0)
    // The corner's ellipse is 20 wide and 10 high.
    for (const [x, y, a] of [
      [21, 0, 255],
      [0, 11, 255],
      [2, 2, 0],
      [8, 4, 255],
      [100, 0, 255],
      [199, 0, 0],
      [199, 99, 0],
      [0, 99, 0],
    ] as const)
      expect((await colourAt(bytes, x, y)).a, `${x}, ${y}`).to.equal(a)
  })

  for (const [query, shown] of [
    ['rs=50&f=jpeg&q=95', 'wwww'],
    ['rs=50&f=jpeg&q=95&bg=00f', 'bbbb'],
    ['rs=50&bg=blue', 'bbbb'],
    ['rs=50&bg=transparent', '----'],
    ['rs=50&f=webp', '----'],
    ['rs=50&f=avif', '----'],
    ['rs=50&f=tiff', 'wwww'],
    ['rs=50&w=40', '----'],
    ['rs=50&pad=10', '----'],
    ['rs=50&pad=10&f=jpeg&q=95', 'wwww'],
  ] as const) {
    it(`shows ${shown} in the corners for ${query}`, async () => {
      const { bytes } = await transformed(await red(100, 100), query)
      expect(await corners(bytes)).to.equal(shown)
      const { width = 0 } = await sharp(bytes).metadata()
      const { r, g } = await colourAt(bytes, width / 2, width / 2)
      expect([Math.round(r / 60), Math.round(g / 60)]).to.deep.equal([4, 0])
    })
  }

  it('keeps transparent pixels', async () => {
    const half = await sharp({ create: { width: 40, height: 40, channels: 4, background: '#f008' } })
      .png()
      .toBuffer()
    const { bytes } = await transformed(half, 'rs=50')
    expect((await colourAt(bytes, 20, 20)).a).to.be.closeTo(136, 1)
    expect((await colourAt(bytes, 0, 0)).a).to.equal(0)
  })

  for (const format of ['gif', 'webp'] as const) {
    it(`rounds every frame of a ${format}`, async () => {
      const moving = await animation({ width: 40, height: 30, format })
      const { bytes, metadata } = await transformed(moving, 'rs=50&w=30', { format })
      expect(metadata).to.include({ pages: 3, width: 30, format })
      for (const [page, r] of [255, 0, 0].entries()) {
        const frame = await sharp(bytes, { page }).png().toBuffer()
        expect(await corners(frame), `frame ${page}`).to.equal('----')
        expect(await colourAt(frame, 15, 11)).to.include({ r, a: 255 })
      }
    })
  }
})

describe('image-background', () => {
  const half = () =>
    sharp({ create: { width: 40, height: 20, channels: 4, background: { r: 255, g: 0, b: 0, alpha: 0 } } })
      .png()
      .toBuffer()

  for (const [query, colour] of [
    ['bg=00f', { r: 0, g: 0, b: 255, a: 255 }],
    ['bg=%2300F', { r: 0, g: 0, b: 255, a: 255 }],
    ['background=blue', { r: 0, g: 0, b: 255, a: 255 }],
    ['bg=blue&w=10', { r: 0, g: 0, b: 255, a: 255 }],
    ['bg=00f8', { r: 0, g: 0, b: 255, a: 136 }],
    ['bg=transparent', { a: 0 }],
    ['w=60&h=60&fit=contain&bg=blue', { r: 0, g: 0, b: 255, a: 255 }],
    ['w=60&h=60&fit=contain&bg=blue&f=webp', { r: 0, g: 0, b: 255, a: 255 }],
  ] as const) {
    it(`is behind transparency: ${query}`, async () => {
      const { bytes } = await transformed(await half(), query)
      expect(await colourAt(bytes, 3, 3)).to.include(colour)
    })
  }

  it('replaces transparency in a format without it', async () => {
    for (const query of ['bg=blue&f=jpeg&q=95', 'bg=blue&f=jpeg&q=95&w=60&h=60&fit=contain']) {
      const { bytes } = await transformed(await half(), query)
      const { r, g, b } = await colourAt(bytes, 3, 3)
      expect([r < 10, g < 10, b > 245], query).to.deep.equal([true, true, true])
    }
    const { bytes } = await transformed(await half(), 'bg=00f8&f=jpeg&q=95')
    expect((await colourAt(bytes, 3, 3)).r, 'on white').to.be.closeTo(119, 4)
  })

  it('surrounds an opaque image', async () => {
    const jpeg = await picture({ width: 60, height: 40, format: 'jpeg' })
    for (const query of ['w=60&h=60&fit=contain', 'pad=10', 'rs=50', 'rotate=45']) {
      const { bytes } = await transformed(jpeg, `${query}&bg=blue&f=png`, { format: 'jpeg' })
      expect(await corners(bytes), query).to.equal('bbbb')
    }
  })

  it('changes no opaque pixel', async () => {
    const jpeg = await picture({ width: 60, height: 40, format: 'jpeg' })
    const [plain, over] = await Promise.all(
      ['w=30', 'w=30&bg=red'].map((query) => transformed(jpeg, query, { format: 'jpeg' })),
    )
    expect(over?.bytes.equals(plain?.bytes ?? Buffer.alloc(0))).to.equal(true)
  })

  it('is behind every frame of an animation', async () => {
    const moving = await animation({ width: 40, height: 30 })
    const { bytes, metadata } = await transformed(moving, 'w=40&h=40&fit=contain&bg=000', { format: 'gif' })
    expect(metadata.pages).to.equal(3)
    for (const page of [0, 1, 2])
      expect(await corners(await sharp(bytes, { page }).png().toBuffer())).to.equal('kkkk')
  })

  for (const value of ['', 'reddish', '12345', 'rgb(0,0,0)']) {
    it(`refuses ${JSON.stringify(value)}`, async () => {
      expect(await rejection(transformed(await half(), `bg=${value}`))).to.have.property(
        'message',
        `expected a colour: 3, 4, 6 or 8 hexadecimal digits, a CSS name or transparent for bg but received "${value}"`,
      )
    })
  }
})

describe('rotation, padding and rounding have one key for one result', () => {
  for (const [variant, ...queries] of [
    ['rotate=90', 'rotate=90', 'rotate=-270', 'rotate=90.0'],
    ['pad=5', 'pad=5', 'pad=5,5', 'pad=5,5,5', 'pad=5,5,5,5', 'pad=05'],
    ['pad=5,6', 'pad=5,6', 'pad=5,6,5', 'pad=5,6,5,6'],
    ['pad=5,6,7', 'pad=5,6,7', 'pad=5,6,7,6'],
    ['pad=0,0,0,1', 'pad=0,0,0,1'],
    ['radius=50', 'rs=50', 'radius=100', 'rs=75'],
    ['bg=0000ff', 'bg=blue', 'bg=00f', 'bg=%230000FF', 'background=0000ffff'],
    ['default', 'rotate=0', 'rotate=360', 'pad=0', 'pad=0,0', 'rs=0', 'bg=transparent', 'bg=0000', 'flip=0'],
    ['flip=1&flop=1&rotate=90&w=9', 'w=9&flip&flop&rotate=90'],
  ] as const) {
    it(`${variant}: ${queries.join(', ')}`, async () => {
      const { order } = await loadChain(
        join(import.meta.dirname, '..', '..', '..', '..', 'config', 'chain.json'),
      )
      const { transforms } = await loadWith({}, { order })
      const plan = createPlanner(transforms, [])
      for (const query of queries) {
        const format = formatOfMediaType('image/jpeg')
        // With another parameter for those that come to nothing at all.
        const planned = plan({ query: new URLSearchParams(`${query}&f=jpeg`), format, preferences: {} })
        expect(planned.variant, query).to.equal(variant)
      }
    })
  }
})

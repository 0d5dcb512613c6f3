import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { animation, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { transformed } from '../transform.ts'
import { corners } from './corners.ts'

/** A picture within a border of one colour. */
async function framed(background: string, { left = 30, top = 20, right = 10, bottom = 5 } = {}) {
  return sharp(await picture({ width: 80, height: 40 }))
    .extend({ left, top, right, bottom, background })
    .png()
    .toBuffer()
}

describe('image-trim', () => {
  for (const colour of ['#000', '#fff', '#ff00ff', '#0000']) {
    it(`removes a border of ${colour}`, async () => {
      for (const query of ['trim', 'trim=10', 'trim=true', 'trim=0']) {
        const { bytes, metadata } = await transformed(await framed(colour), query)
        expect([metadata.width, metadata.height], query).to.deep.equal([80, 40])
        expect(await corners(bytes)).to.equal('rgbw')
      }
    })
  }

  it('counts as border what differs by no more than the threshold', async () => {
    const near = await sharp(await framed('#505050'))
      .extend({ left: 7, top: 7, right: 7, bottom: 7, background: '#464646' })
      .png()
      .toBuffer()
    const sizeOf = async (query: string) => {
      const { metadata } = await transformed(near, query)
      return [metadata.width, metadata.height]
    }
    expect(await sizeOf('trim=9')).to.deep.equal([120, 65])
    expect(await sizeOf('trim=11')).to.deep.equal([80, 40])
    expect(await sizeOf('trim')).to.deep.equal([80, 40])
  })

  it('leaves an image of a few pixels unchanged, also one of many frames', async () => {
    for (const [width, height] of [
      [1, 1],
      [2, 1],
      [2, 2],
      [3, 1],
      [1, 3],
    ] as const) {
      const { metadata } = await transformed(await picture({ width, height }), 'trim&f=webp&lossless')
      expect(metadata.width * metadata.height, `${width} x ${height}`).to.be.within(1, width * height)
    }
    const { metadata } = await transformed(await animation({ width: 1, height: 1 }), 'trim', {
      format: 'gif',
    })
    expect(metadata).to.include({ width: 1, pages: 3 })
  })

  it('leaves an image without a border, and one that is all border, unchanged', async () => {
    const plain = await sharp({ create: { width: 30, height: 20, channels: 3, background: '#0f0' } })
      .png()
      .toBuffer()
    expect((await transformed(plain, 'trim')).metadata).to.include({ width: 30, height: 20 })
    const full = await picture({ width: 40, height: 20 })
    const { bytes, metadata } = await transformed(full, 'trim')
    expect(metadata).to.include({ width: 40, height: 20 })
    expect(await corners(bytes)).to.equal('rgbw')
  })

  it('leaves an image of too few pixels to have a border unchanged', async () => {
    for (const [width, height] of [
      [1, 1],
      [2, 9],
      [9, 2],
    ] as const)
      expect((await transformed(await picture({ width, height }), 'trim')).metadata).to.include({
        width,
        height,
      })
  })

  it('runs before all later steps, which receive the trimmed image', async () => {
    for (const [query, width, height, shown] of [
      ['trim&w=40', 40, 20, 'rgbw'],
      ['trim&w=100', 80, 40, 'rgbw'],
      ['trim&w=20&h=20&func=east', 20, 20, 'ggbb'],
      ['trim&crop=60,0,100,10', 20, 10, 'gggg'],
      ['trim&crop=0,0,40,40&h=20', 20, 20, 'rrww'],
    ] as const) {
      const { bytes, metadata } = await transformed(await framed('#000'), query)
      expect([metadata.width, metadata.height], query).to.deep.equal([width, height])
      expect(await corners(bytes), query).to.equal(shown)
    }
  })

  for (const format of ['gif', 'webp'] as const) {
    it(`removes the border that every frame of a ${format} has, and keeps its timing`, async () => {
      const frames = await Promise.all(
        [
          { left: 10, top: 20 },
          { left: 14, top: 25 },
        ].map(({ left, top }) =>
          framed('#000', { left, top, right: 20 - left, bottom: 40 - top }).then((png) =>
            sharp(png).resize(100, 80, { fit: 'fill' }).png().toBuffer(),
          ),
        ),
      )
      const moving = await sharp(frames, { join: { animated: true } })
        [format]({ delay: [70, 250], loop: 4, ...(format === 'webp' ? { lossless: true } : {}) })
        .toBuffer()
      const { metadata } = await transformed(moving, 'trim', { format })
      expect(metadata).to.include({ pages: 2, width: 84, loop: 4, format })
      expect(metadata.pageHeight ?? metadata.height).to.equal(45)
      expect(metadata.delay).to.deep.equal([70, 250])
    })
  }

  for (const value of ['-1', '256', 'abc', 'yes']) {
    it(`refuses ${value}`, async () => {
      const error = await rejection(transformed(await picture(), `trim=${value}`))
      expect(error).to.be.instanceOf(Problem).that.includes({ status: 400 })
      expect(error).to.have.property(
        'message',
        `expected a number from 0 to 255 (no value means 10) for trim but received "${value}"`,
      )
    })
  }
})

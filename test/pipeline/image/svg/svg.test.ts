import { expect } from 'chai'
import sharp from 'sharp'
import { Problem } from '../../../../src/core/problem.ts'
import { colourAt } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { everyNth, itLong, sized } from '../../../support/sized.ts'
import { transformed } from '../transform.ts'

/** Black on the left, white on the right. */
const halves = (attributes: string) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" ${attributes}>
    <rect width="50%" height="100%"/><rect x="50%" width="50%" height="100%" fill="#fff"/></svg>`)

const of = (attributes: string, query: string) => transformed(halves(attributes), query, { format: 'svg' })

const size = ({ metadata: { width, height } }: Awaited<ReturnType<typeof of>>) => `${width}x${height}`

describe('an SVG', () => {
  for (const [attributes, query, expected] of everyNth(2, [
    ['width="24" height="24"', 'w=600', '600x600'],
    ['width="24" height="24"', 'w=300&dpr=2', '600x600'],
    ['width="24" height="24"', 'w=601', '601x601'],
    ['width="24" height="24"', 'w=6', '6x6'],
    ['width="24" height="12"', 'h=600', '1200x600'],
    ['width="24" height="12"', 'w=600&h=600', '600x600'],
    ['width="24" height="12"', 'w=600&h=600&fit=fill', '600x600'],
    ['width="24" height="12"', 'w=600&h=600&fit=inside', '600x300'],
    ['width="24" height="12"', 'w=600&h=600&fit=contain', '600x600'],
    ['width="24" height="12"', 'w=600&h=600&fit=outside', '1200x600'],
    ['width="24" height="12"', 'f=webp', '24x12'],
    ['viewBox="0 0 30 10"', 'w=600', '600x200'],
    ['width="100%" height="100%" viewBox="0 0 30 10"', 'w=600', '600x200'],
    ['width="92.6" height="46.3"', 'w=1000', '1000x500'],
    ['width="24.5mm" height="49mm"', 'w=600', '600x1200'],
    ['width="24.5mm" height="49mm"', 'h=60', '30x60'],
    // The side that is not named stays within 5000 px.
    ['width="2" height="100"', 'w=5000', '100x5000'],
  ] as const)) {
    it(`is drawn in the requested size: ${attributes} with ${query}`, async () => {
      expect(size(await of(attributes, query))).to.equal(expected)
    })
  }

  for (const [limit, attributes, width] of [
    ['pixels', 'width="10" height="60"', 2886],
    ['a side', 'width="1" height="3000"', 11],
  ] as const) {
    it(`is drawn at the limit for ${limit} where it would be larger`, async () => {
      const { metadata } = await of(attributes, 'w=5000&h=5000')
      expect(metadata.width)
        .to.be.within(width - 2, width + 2)
        .and.equal(metadata.height)
    })
  }

  it('is refused when a side of its own size is too long', async () => {
    const error = await rejection(of('width="40000" height="100"', 'f=png'))
    expect(error).to.be.instanceOf(Problem).with.property('message').that.includes('at most 32767 px a side')
    expect(size(await of('width="40000" height="100"', 'w=800'))).to.equal('800x2')
  })

  for (const attributes of everyNth(2, [
    'width="1e9" height="1e9"',
    'width="1e9" height="1"',
    'width="1" height="1e9" viewBox="0 0 10 10"',
    'width="3e9" height="3e9"',
    'width="1e30em" height="5"',
    'viewBox="0 0 1e9 1e9"',
    'width="100%" height="100%" viewBox="0 0 1e9 1"',
    'width="0" height="0" viewBox="0 0 9 9"',
    'width="1e-9" height="1e-9"',
  ])) {
    it(`is refused in a size that cannot be drawn: ${attributes}`, async () => {
      for (const query of everyNth(3, ['f=png', 'w=300&f=png', 'f=webp'])) {
        const error = await rejection(of(attributes, query))
        expect(error, query).to.be.instanceOf(Problem).and.include({ status: 422 })
        expect(error, query).to.have.property('message').that.includes('from 1 to 32767 px')
      }
    })
  }

  for (const [attributes, expected] of [
    ['width="1" height="1"', '1x1'],
    ['width="0.6" height="0.6"', '1x1'],
    ['width="1" height="30000"', '1x30000'],
    ['width="-5" height="-5" viewBox="0 0 30 10"', '30x10'],
    ['width="1e999" height="1e999" viewBox="0 0 30 10"', '30x10'],
    ['width="1e9%" height="1e9%" viewBox="0 0 30 10"', '30x10'],
  ] as const) {
    it(`is drawn in its own size: ${attributes}`, async () => {
      expect(size(await of(attributes, 'f=png'))).to.equal(expected)
    })
  }

  for (const [attributes, query, expected] of [
    ['width="10000" height="10000"', 'w=300', '300x300'],
    ['width="30000" height="20000"', 'w=300&f=webp', '300x200'],
    ['width="90000" height="30000"', 'h=100', '300x100'],
    ['width="400000" height="400000"', 'w=300&h=200', '300x200'],
    ['viewBox="0 0 20000 10000"', 'w=300&h=300&fit=contain', '300x300'],
    ...sized([], [['width="20000" height="20000"', 'w=5000', '5000x5000'] as const]),
    ['width="20000" height="10000"', 'w=300&ar=1:1', '300x300'],
  ] as const) {
    it(`is drawn in the requested size, however large its own is: ${attributes} with ${query}`, async () => {
      const drawing = await of(attributes, query)
      expect(size(drawing)).to.equal(expected)
      const { width, height } = drawing.metadata
      const [left, right] = await Promise.all(
        [0.1, 0.9].map((x) => colourAt(drawing.bytes, Math.floor(width * x), Math.floor(height / 2))),
      )
      expect([left?.r, right?.r]).to.deep.equal([0, 255])
    })
  }

  it('is refused when its own size counts and exceeds the pixel limit', async () => {
    for (const query of ['f=png', 'crop=0,0,10,10&w=300', 'zoom=2', 'w=300&page=1&crop=5,5,5,5']) {
      const error = await rejection(of('width="10000" height="10000"', query))
      expect(error, query).to.have.property('message').that.includes('at most 50000000 pixels')
    }
  })

  it('is drawn within the limits, also when it covers a box uncropped', async () => {
    expect(size(await of('width="1" height="3000"', 'w=5000&h=5000&fit=outside'))).to.equal('2x5000')
  })

  itLong('has sharp edges in any size', async () => {
    for (const query of ['w=600', 'w=50', 'w=900&h=900']) {
      const { bytes } = await of('width="24" height="24"', query)
      const { data, info } = await sharp(bytes).greyscale().raw().toBuffer({ resolveWithObject: true })
      const row = data.subarray(info.width * 5, info.width * 6)
      expect(
        [...row].filter((grey) => grey > 5 && grey < 250),
        query,
      ).to.have.length.below(3)
      expect(row[info.width / 2 - 3], query).to.equal(0)
      expect(row[info.width / 2 + 3], query).to.equal(255)
    }
  })
})

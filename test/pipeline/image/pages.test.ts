import { expect } from 'chai'
import sharp, { type Metadata } from 'sharp'
import { Problem } from '../../../src/core/problem.ts'
import { picture } from '../../support/media/images.ts'
import { rejection } from '../../support/rejection.ts'
import { corners } from './geometry/corners.ts'
import { transformed } from './transform.ts'

const COLOURS = ['#f00', '#0f0', '#00f']
const TIMING = { delay: [100, 250, 400], loop: 3 }

/** Red, green and blue, each shown for a time of its own, three times over. */
async function timed(format: 'gif' | 'webp'): Promise<Buffer> {
  const frames = COLOURS.map((background) =>
    sharp({ create: { width: 40, height: 30, channels: 3, background } })
      .png()
      .toBuffer(),
  )
  return sharp(await Promise.all(frames), { join: { animated: true } })
    .toFormat(format, TIMING)
    .toBuffer()
}

/** A TIFF of two pages the second the negative of the first. */
async function twoPages(): Promise<Buffer> {
  const first = await picture({ width: 20, height: 10 })
  const second = await sharp(first).negate({ alpha: false }).png().toBuffer()
  return sharp([first, second], { join: { animated: true } })
    .tiff()
    .toBuffer()
}

const timing = ({ pages, delay, loop }: Metadata) => ({ pages, delay, loop })

describe('parameters a and page', () => {
  for (const there of ['gif', 'webp'] as const) {
    for (const via of ['gif', 'webp'] as const) {
      it(`keep frames, timing and loop count from ${there} to ${via} and back, resized`, async () => {
        const source = await timed(there)
        const one = await transformed(source, `f=${via}&w=20`, { format: there })
        expect(timing(one.metadata)).to.deep.equal({ pages: 3, ...TIMING })
        const back = await transformed(one.bytes, `f=${there}&a=1`, { format: via })
        expect(timing(back.metadata)).to.deep.equal({ pages: 3, ...TIMING })
        expect(back.metadata).to.include({ format: there, width: 20 })
        for (const [page, corner] of ['rrrr', 'gggg', 'bbbb'].entries()) {
          expect(await corners(await sharp(back.bytes, { page }).png().toBuffer())).to.equal(corner)
        }
      })
    }

    it(`keep timing and loop count of a ${there} with a quality search`, async () => {
      const { metadata } = await transformed(await timed(there), 'f=webp&maxbytes=10', { format: there })
      expect(timing(metadata)).to.deep.equal({ pages: 3, ...TIMING })
    })

    it(`take the first frame of a ${there} for a=0`, async () => {
      for (const query of ['a=0', 'animated=0&w=20', 'f=gif&a=0', 'f=webp&a=0', 'page=1']) {
        const { metadata, bytes } = await transformed(await timed(there), query, { format: there })
        expect(metadata.pages ?? 1, query).to.equal(1)
        expect(metadata.height, query).to.equal(query.includes('w=20') ? 15 : 30)
        expect(await corners(bytes), query).to.equal('rrrr')
      }
    })

    it(`take the frame of a ${there} given by page, in any format`, async () => {
      const source = await timed(there)
      for (const [page, corner] of ['rrrr', 'gggg', 'bbbb'].entries()) {
        for (const f of ['gif', 'webp', 'png', 'jpeg', 'avif']) {
          const { metadata, bytes } = await transformed(source, `page=${page + 1}&f=${f}&h=15`, {
            format: there,
          })
          expect([metadata.pages ?? 1, metadata.width, metadata.height]).to.deep.equal([1, 20, 15])
          expect(await corners(bytes), `page ${page + 1} as ${f}`).to.equal(corner)
        }
      }
    })

    it(`refuse a page after the last one of a ${there} with a 400 that states the number of pages`, async () => {
      const problem = await rejection(transformed(await timed(there), 'page=4', { format: there }))
      expect(problem).to.be.instanceOf(Problem).and.include({ status: 400, code: 'bad_parameter' })
      expect((problem as Problem).message).to.equal(
        'expected an integer from 1 to 3 (the number of pages of this file) for page but received "4"',
      )
    })
  }

  it('take the page of a TIFF given by page', async () => {
    for (const [query, corner] of [
      ['f=png', 'rgbw'],
      ['f=png&page=1', 'rgbw'],
      ['f=webp&page=2', '???k'],
      ['page=2', '???k'],
    ] as const) {
      const { bytes, metadata } = await transformed(await twoPages(), query, { format: 'tiff' })
      expect([metadata.width, metadata.height, metadata.pages ?? 1], query).to.deep.equal([20, 10, 1])
      expect(await corners(bytes), query).to.equal(corner)
    }
    const problem = await rejection(transformed(await twoPages(), 'page=3', { format: 'tiff' }))
    expect(problem).to.include({ status: 400 })
  })

  it('count only the selected frame against the pixel limit', async () => {
    const limits = { sourceMaxPixels: 40 * 30 * 2 }
    const source = await timed('gif')
    const all = await rejection(transformed(source, 'w=10', { format: 'gif', limits }))
    expect(all).to.include({ status: 422 })
    const { metadata } = await transformed(source, 'w=10&page=3', { format: 'gif', limits })
    expect(metadata.width).to.equal(10)
  })
})

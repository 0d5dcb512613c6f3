import { expect } from 'chai'
import sharp from 'sharp'
import { isLimitProblem } from '../../../../src/core/limit-problems.ts'
import { knownFormat } from '../../../../src/core/media/formats.ts'
import type { Forecast } from '../../../../src/core/plugin-api/forecast.ts'
import { createPlanner } from '../../../../src/pipeline/plan/plan.ts'
import { sharpEngine } from '../../../support/media/engines.ts'
import { animation, picture } from '../../../support/media/images.ts'
import { rejection } from '../../../support/rejection.ts'
import { loadWith } from '../../load/drop-ins.ts'
import { assetOf, context } from '../transform.ts'

const { transforms } = await loadWith({})
const accept = 'image/avif,image/webp'

/** What the engine expects a query to cost, before anything is decoded. */
function forecast(
  bytes: Buffer,
  query: string,
  {
    format = 'jpeg',
    limits = {},
    ...known
  }: { format?: string; limits?: { sourceMaxPixels?: number }; truncated?: true } = {},
): Promise<Forecast> {
  const planner = createPlanner(transforms, [])
  const { steps } = planner({
    query: new URLSearchParams(query),
    format: knownFormat(format),
    preferences: { accept },
  })
  const usual = context()
  const options = { ...usual, limits: { ...usual.limits, ...limits } }
  return sharpEngine.forecast({ ...assetOf(bytes, format), ...known }, steps, options)
}

describe('the cost forecast by format', () => {
  it('may hang for a GIF of more than a million pixels', async () => {
    const photo = await picture({ width: 2000, height: 1000, format: 'jpeg' })
    const hangs = async (query: string) => (await forecast(photo, query)).mayHang
    expect(await hangs('f=gif')).to.equal(true)
    expect(await hangs('f=gif&w=1000')).to.equal(false)
    expect(await hangs('f=png')).to.equal(false)
  })

  it('may hang for an AVIF of more than 300,000 pixels', async () => {
    const photo = await picture({ width: 1000, height: 600, format: 'jpeg' })
    const hangs = async (query: string) => (await forecast(photo, query)).mayHang
    expect(await hangs('f=avif')).to.equal(true)
    expect(await hangs('f=avif&w=720')).to.equal(true)
    expect(await hangs('f=avif&w=700')).to.equal(false)
  })

  it('equals that of AVIF for f=auto, which may become AVIF: in a child process', async () => {
    const photo = await picture({ width: 900, height: 600, format: 'jpeg' })
    const [auto, avif, webp] = await Promise.all(
      ['f=auto', 'f=avif', 'f=webp'].map((query) => forecast(photo, query)),
    )
    expect([auto?.mayHang, avif?.mayHang, webp?.mayHang]).to.deep.equal([true, true, false])
    expect(auto?.bytes).to.equal(avif?.bytes)
    expect(auto?.bytes).to.be.above(webp?.bytes ?? 0)
  })

  it('may hang, and counts all pixels, for a truncated interlaced PNG', async () => {
    const png = await sharp(await picture({ width: 2000, height: 1000 }))
      .png({ progressive: true })
      .toBuffer()
    const whole = await forecast(png, 'w=50', { format: 'png' })
    const cut = await forecast(png, 'w=50', { format: 'png', truncated: true })
    expect([whole.mayHang, cut.mayHang]).to.deep.equal([false, true])
    // Two copies of its pixels: as they are, and compressed, which may be as long.
    expect(cut.bytes - whole.bytes).to.be.above(2 * 2000 * 1000 * 4)
    const rows = await forecast(await picture(), 'w=50', { format: 'png', truncated: true })
    expect(rows.mayHang).to.equal(false)
  })

  it('counts one frame when one is requested', async () => {
    const gif = await animation({ width: 100, height: 100 })
    const limits = { sourceMaxPixels: 25_000 }
    expect(await rejection(forecast(gif, 'w=50', { format: 'gif', limits }))).to.include({ status: 422 })
    for (const query of ['w=50&a=0', 'w=50&page=1', 'w=50&page=3', 'w=50&f=jpeg']) {
      expect((await forecast(gif, query, { format: 'gif', limits })).mayHang, query).to.equal(false)
    }
  })
  it('refuses an animation of too many frames, and states why', async () => {
    const most = await forecast(gifOfPixels(5000), 'w=50', { format: 'gif' })
    expect(most.mayHang).to.equal(false)
    const refused = await rejection(forecast(gifOfPixels(5001), 'w=50', { format: 'gif' }))
    expect(refused)
      .to.include({ status: 422 })
      .and.to.have.property(
        'message',
        'expected an animation of at most 5000 frames to transform but this one has more',
      )
    // Nothing is wrong with it: with `onLimit` the original may stand in.
    expect(refused).to.satisfy(isLimitProblem)
  })

  it('grows with the pixels that a step holds, of the source or of the result', async () => {
    const side = 2000
    const photo = await picture({ width: side, height: side, format: 'jpeg' })
    const more = async (query: string, than: string) =>
      ((await forecast(photo, query)).bytes - (await forecast(photo, than)).bytes) / side ** 2
    for (const query of ['trim', 'zoom=2', 'func=auto&h=100', 'enlarge']) {
      expect(await more(`w=100&${query}`, 'w=100'), query).to.be.within(5, 8)
    }
    for (const query of ['flip', 'normalize_lower=2', 'rotate=90', 'maxbytes=1000000', 'blur=9', 'bg=red']) {
      expect(await more(`f=webp&${query}`, 'f=webp'), query).to.be.within(3, 5)
      expect(await more(`w=100&${query}`, 'w=100'), `${query} of a small one`).to.be.below(0.1)
    }
  })

  it('grows with the area added around an image, and with the crop before it is enlarged', async () => {
    const line = await picture({ width: 2000, height: 2, format: 'png' })
    const plain = (await forecast(line, 'w=2000', { format: 'png' })).bytes
    for (const query of [
      'pad=1000',
      'rs=5&pad=0,0,0,2000',
      'w=5000&enlarge=1&crop=0,0,2,2',
      'h=5000&fit=outside&w=1&enlarge',
    ])
      expect((await forecast(line, query, { format: 'png' })).bytes - plain, query).to.be.above(10_000_000)
  })

  it('shrinks with the part that is cut out, in the shape that this part has within the upright image', async () => {
    const side = 2000
    const photo = await picture({ width: side, height: side, format: 'jpeg' })
    const sideways = await sharp({ create: { width: side, height: 200, channels: 3, background: '#777' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer()
    const bytesPerPixel =
      ((await forecast(photo, 'q=70')).bytes - (await forecast(photo, 'w=1')).bytes) / side ** 2
    const pixels = async (query: string, of = photo) =>
      ((await forecast(of, query)).bytes - (await forecast(of, 'w=1')).bytes) / bytesPerPixel
    expect(await pixels('crop=0,0,1000,500')).to.be.closeTo(500_000, 10)
    expect(await pixels('crop=0,0,1000,500&w=500')).to.be.closeTo(125_000, 10)
    // What remains of it is a square.
    expect(await pixels('crop=1500,0,2000,500&w=500')).to.be.closeTo(250_000, 10)
    expect(await pixels('w=100', sideways)).to.be.closeTo(100_000, 500)
    expect(await pixels('crop=100,0,200,2000&w=50', sideways)).to.be.closeTo(50_000, 500)
  })

  it('may hang for very many frames that are changed one by one', async () => {
    const gif = await animation({
      width: 2,
      height: 2,
      colours: Array.from({ length: 1001 }, (_, i) => (i % 2 ? '#f00' : '#0f0')),
    })
    const hangs = async (query: string) => (await forecast(gif, query, { format: 'gif' })).mayHang
    expect(await hangs('rotate=10')).to.equal(true)
    expect(await hangs('trim')).to.equal(true)
    expect(await hangs('w=1')).to.equal(false)
    expect(await hangs('trim&a=0')).to.equal(false)
  })

  it('refuses an animation of too many frames as such, not as broken', async () => {
    const head = Buffer.from('474946383961010001000000003b', 'hex').subarray(0, 13)
    const frame = Buffer.from('2c00000000010001000002024401003b', 'hex').subarray(0, 15)
    const gif = Buffer.concat([head, ...Array.from({ length: 5001 }, () => frame), Buffer.from(';')])
    const problem = await rejection(forecast(gif, 'w=1', { format: 'gif' }))
    expect(problem).to.include({ status: 422 }).and.to.have.property('message').which.includes('5000 frames')
  })
})

/** A GIF of so many frames, each of one black pixel. */
function gifOfPixels(frames: number): Buffer {
  const header = Buffer.from('GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff', 'latin1')
  const frame = Buffer.from('\x2c\0\0\0\0\x01\0\x01\0\0\x02\x02\x44\x01\0', 'latin1')
  return Buffer.concat([header, ...Array.from({ length: frames }, () => frame), Buffer.from('\x3b')])
}

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp, { type Sharp } from 'sharp'
import { picture } from '../../support/media/images.ts'
import { everyNth } from '../../support/sized.ts'

const CALLS: Record<string, (image: Sharp) => Sharp> = {
  resize: (image) => image.resize(50),
  rotate: (image) => image.rotate(30),
  extract: (image) => image.extract({ left: 3, top: 4, width: 30, height: 20 }),
  flatten: (image) => image.flatten({ background: '#fff' }),
  gamma: (image) => image.gamma(2),
  greyscale: (image) => image.greyscale(),
  flip: (image) => image.flip(),
  flop: (image) => image.flop(),
  affine: (image) =>
    image.affine([
      [1, 0.3],
      [0.1, 0.7],
    ]),
  extend: (image) => image.extend({ left: 7, top: 3, background: '#f0f' }),
  median: (image) => image.median(5),
  threshold: (image) => image.threshold(100),
  blur: (image) => image.blur(3),
  convolve: (image) => image.convolve({ width: 3, height: 3, kernel: [-1, 0, 1, -2, 0, 2, -1, 0, 1] }),
  recomb: (image) =>
    image.recomb([
      [0.39, 0.77, 0.19],
      [0.35, 0.69, 0.17],
      [0.27, 0.53, 0.13],
    ]),
  modulate: (image) => image.modulate({ brightness: 1.3, hue: 40 }),
  sharpen: (image) => image.sharpen({ sigma: 2 }),
  composite: (image) =>
    image.composite([{ input: { create: { width: 8, height: 8, channels: 3, background: '#0f0' } } }]),
  linear: (image) => image.linear(0.5, 20),
  normalise: (image) => image.normalise(),
  tint: (image) => image.tint('#f80'),
  negate: (image) => image.negate({ alpha: false }),
}

// What plugins can rely on, as docs/explanation/sharp-order.md states it.
describe('the order in which sharp applies its methods', () => {
  let source: Buffer
  let fixed: string[]
  before(async () => {
    source = await sharp(await picture({ width: 90, height: 60 }))
      .modulate({ brightness: 0.8 })
      .png()
      .toBuffer()
    const text = await readFile(
      join(import.meta.dirname, '..', '..', '..', 'docs', 'explanation', 'sharp-order.md'),
      'utf8',
    )
    const list = /Everything else has a fixed place: ([^.]*)\./.exec(text)?.[1] ?? ''
    fixed = [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  })

  const outcome = async (...names: string[]) => {
    const image = names.reduce((draft, name) => CALLS[name]?.(draft) as Sharp, sharp(source))
    return (await image.png().toBuffer()).toString('base64')
  }

  it('is fixed for the methods that the document lists', async () => {
    expect(fixed).to.include('blur').and.have.length(19)
    for (const [i, one] of fixed.entries()) {
      for (const other of everyNth(4, fixed.slice(i + 1)))
        expect((await outcome(one, other)) === (await outcome(other, one)), `${one}, ${other}`).to.equal(true)
    }
  })

  it('is the order of the calls for all others', async () => {
    for (const [one, other] of [
      ['resize', 'rotate'],
      ['resize', 'extract'],
      ['rotate', 'extract'],
    ] as const)
      expect((await outcome(one, other)) === (await outcome(other, one)), `${one}, ${other}`).to.equal(false)
  })

  it('has each method once: the last call counts', async () => {
    const twice = sharp(source).linear(0.1, 5).linear(0.5, 20)
    expect((await twice.png().toBuffer()).toString('base64')).to.equal(await outcome('linear'))
  })
})

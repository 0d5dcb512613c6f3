import { expect } from 'chai'
import sharp from 'sharp'
import { animation } from '../../../support/media/images.ts'
import { transformed } from '../transform.ts'
import { photo } from './sources.ts'

/** The mean difference of two images of the same size, in 256 steps of brightness. */
async function difference(one: Uint8Array, other: Uint8Array): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((bytes) => sharp(bytes).greyscale().raw().toBuffer()))
  if (!a || !b) throw new Error('there are no pixels')
  return a.reduce((sum, value, i) => sum + Math.abs(value - (b[i] ?? 0)), 0) / a.length
}

describe('effort=max', () => {
  for (const query of ['f=jpeg', 'f=webp', 'f=avif', 'f=png', 'f=webp&q=60', 'f=avif&q=60'])
    it(`makes a smaller file of the same look: ${query}`, async () => {
      const source = await photo().png().toBuffer()
      const usual = await transformed(source, `w=150&${query}`)
      const most = await transformed(source, `w=150&${query}&effort=max`)
      expect(most.bytes.length).to.be.below(usual.bytes.length)
      expect(most.metadata).to.include({ width: 150, format: usual.metadata.format })
      const ideal = await sharp(source).resize(150).png().toBuffer()
      const loss = await difference(ideal, usual.bytes)
      expect(await difference(ideal, most.bytes)).to.be.at.most(1.1 * loss + 0.01)
    })

  it('has no effect where the encoder has no more effort', async () => {
    const gif = await animation()
    for (const [source, query] of [
      [gif, 'w=10'],
      [gif, 'w=10&f=webp'],
      [await photo().png().toBuffer(), 'w=10&f=webp&lossless'],
      [await photo().png().toBuffer(), 'w=10&f=tiff'],
    ] as const) {
      const [usual, most] = [
        await transformed(source, query),
        await transformed(source, `${query}&effort=max`),
      ]
      expect(Buffer.from(most.bytes).equals(usual.bytes), query).to.equal(true)
    }
  })

  it('has no effect on more than 2 megapixels', async () => {
    const source = await sharp({ create: { width: 2000, height: 1001, channels: 3, background: '#a52' } })
      .png()
      .toBuffer()
    const [usual, most] = [
      await transformed(source, 'f=jpeg'),
      await transformed(source, 'f=jpeg&effort=max'),
    ]
    expect(Buffer.from(most.bytes).equals(usual.bytes)).to.equal(true)
  })
})

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { bmp } from '../../../src/engines/image/decoders/bmp.ts'
import { ico } from '../../../src/engines/image/decoders/ico.ts'
import { PROJECT } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))
const options = { maxPixels: 1_000_000, check: () => {} }

describe('decoders of bitmaps', () => {
  // ImageMagick made `im.png` and these from the same pixels.
  for (const [name, decoder] of [
    ['im.bmp', bmp],
    ['bmp-2.bmp', bmp],
    ['bmp-3.bmp', bmp],
    ['im.ico', ico],
  ] as const) {
    it(`decode ${name} to the pixels that ImageMagick wrote`, async () => {
      const bytes = await fileOf(name)
      expect(decoder.facts(bytes)).to.include({ width: 48, height: 36 })
      const decoded = await sharp((await decoder.decode(bytes, options)).bytes)
        .removeAlpha()
        .raw()
        .toBuffer()
      const written = await sharp(await fileOf('im.png'))
        .removeAlpha()
        .toColourspace('srgb')
        .raw()
        .toBuffer()
      const worst = decoded.reduce((most, value, i) => Math.max(most, Math.abs(value - (written[i] ?? 0))), 0)
      expect(decoded.length).to.equal(written.length)
      expect(worst).to.be.at.most(1)
    })
  }

  it('refuse or decode any changed file, and check the size before they take memory', async () => {
    for (const [name, decoder] of [
      ['im.bmp', bmp],
      ['im.ico', ico],
    ] as const) {
      const bytes = await fileOf(name)
      for (let i = 0; i < sized(100, 2000); i += 1) {
        const changed = Buffer.from(bytes)
        // The headers are in the first 60 bytes.
        changed[i % 60] = (i * 37) % 256
        const check = ({ width, height }: { width: number; height: number }) => {
          if (width * height > options.maxPixels) throw new Error('too large')
        }
        decoder.facts(changed)
        const outcome = await decoder.decode(changed, { ...options, check }).catch((err: Error) => err)
        if (outcome instanceof Error) continue
        expect(outcome.bytes.length).to.be.below(5_000_000)
      }
    }
  })
})

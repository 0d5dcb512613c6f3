import sharp from 'sharp'
import { readAll } from '../../../src/core/bytes/asset.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { unusableAsset } from '../../../src/core/problem.ts'
import { applyLut, type Lut, MAX_CUBE_BYTES, parseCube } from './cube.mts'

/** Replaces the colours by a 3D LUT, a file of the same client in the Cube format. Colours are in sRGB. */
export default definePlugin({
  name: 'image-lut',
  engine: 'sharp',
  phase: 'effect',
  newPass: true,
  params: {
    lut: { type: 'key', group: 'text', help: 'Colour look: a 3D LUT (.cube) of the same client.' },
    lut_strength: {
      type: 'integer',
      min: 0,
      max: 100,
      unit: 'percent',
      default: 100,
      help: 'Strength of the colour look.',
    },
  },
  resolve: (params) => (params.lut === undefined || params.lut_strength === 0 ? undefined : params),
  needs: () => 'outcome',
  holds: () => 'outcome',
  async transform(image, { lut: key = '', lut_strength }, { asset, settle, signal }) {
    const file = await asset(key)
    if (file.size > MAX_CUBE_BYTES)
      throw unusableAsset('lut', `it has more than ${MAX_CUBE_BYTES} bytes`, undefined)
    const lut = read((await readAll(file, signal)).toString('latin1'))
    return settle(image, async (frame) => {
      // Through a file: from a profile that was retained, sharp converts the colours to sRGB.
      const png = await frame.png({ compressionLevel: 0 }).toBuffer()
      const { data, info } = await sharp(png)
        .toColourspace('srgb')
        .raw()
        .toBuffer({ resolveWithObject: true })
      const { width, height, channels } = info
      await applyLut(data, { lut, channels, strength: lut_strength / 100, signal })
      return sharp(data, { raw: { width, height, channels } })
    })
  },
})

function read(text: string): Lut {
  try {
    return parseCube(text)
  } catch (cause) {
    throw unusableAsset('lut', cause instanceof Error ? cause.message : String(cause), cause)
  }
}

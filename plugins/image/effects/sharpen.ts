import type { Sharp, SharpenOptions } from 'sharp'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

const MAX_SIGMA = 10

// A reduction averages pixels, so edges lose contrast. From half the size on this is visible.
const STRONG_REDUCTION = 2
// Edges gain 15 to 25 percent of their contrast, without halos. Flat areas are not changed.
const MILD: SharpenOptions = { sigma: 0.6, m1: 0, m2: 1.5 }

/** Sharpens the edges. Each frame is sharpened separately, since for sharp all frames are one tall image. */
export default definePlugin({
  name: 'image-sharpen',
  engine: 'sharp',
  phase: 'effect',
  params: {
    sharpen: {
      type: 'flag',
      words: ['auto'],
      help: 'Mild, fast sharpening. auto: very mild, and only if w or h halves the image or reduces it further.',
    },
    sharpen_sigma: {
      type: 'number',
      min: 0.3,
      max: MAX_SIGMA,
      unit: 'px',
      help: 'Sharpening that preserves flat areas, with this Gaussian sigma, multiplied by dpr.',
    },
  },
  resolve({ sharpen, sharpen_sigma }, { named }) {
    if (sharpen_sigma !== undefined) return { sharpen: undefined, sharpen_sigma }
    if (sharpen === 'auto' && !named.has('w') && !named.has('h')) return undefined
    return { sharpen, sharpen_sigma }
  },
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, { sharpen, sharpen_sigma }, { source, settle }) {
    if (sharpen === 'auto' && source.reduction < STRONG_REDUCTION) return image
    // In pixels of the URL, so that dpr does not change the effect. The limit of sharp is 10.
    const sigma = sharpen_sigma && Math.min(MAX_SIGMA, sharpen_sigma * source.dpr)
    const options = sharpen === 'auto' ? MILD : sigma && { sigma }
    const sharpened = (frame: Sharp) => (options ? frame.sharpen(options) : frame.sharpen())
    return source.pages === 1 ? sharpened(image) : settle(image, sharpened)
  },
})

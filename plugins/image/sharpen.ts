import type { Sharp } from 'sharp'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

const MAX_SIGMA = 10

/** Sharpens the edges. Each frame is sharpened separately, since for sharp all frames are one tall image. */
export default definePlugin({
  name: 'image-sharpen',
  engine: 'sharp',
  phase: 'effect',
  params: {
    sharpen: { type: 'flag', help: 'Mild, fast sharpening.' },
    sharpen_sigma: {
      type: 'number',
      min: 0.3,
      max: MAX_SIGMA,
      unit: 'px',
      help: 'Sharpening that preserves flat areas, with this Gaussian sigma, multiplied by dpr.',
    },
  },
  resolve: ({ sharpen, sharpen_sigma }) =>
    sharpen_sigma === undefined ? { sharpen, sharpen_sigma } : { sharpen: undefined, sharpen_sigma },
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, { sharpen_sigma }, { source, settle }) {
    // In pixels of the URL, so that dpr does not change the effect. The limit of sharp is 10.
    const sigma = sharpen_sigma && Math.min(MAX_SIGMA, sharpen_sigma * source.dpr)
    const sharpened = (frame: Sharp) => (sigma === undefined ? frame.sharpen() : frame.sharpen({ sigma }))
    return source.pages === 1 ? sharpened(image) : settle(image, sharpened)
  },
})

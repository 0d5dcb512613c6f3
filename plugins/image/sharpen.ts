import type { Sharp } from 'sharp'
import { definePlugin } from '../../src/core/plugin.ts'

/** Sharpens the edges. */
export default definePlugin({
  name: 'image-sharpen',
  engine: 'sharp',
  phase: 'effect',
  params: {
    sharpen: { type: 'flag', help: 'Sharpens, fast and mild' },
    sharpen_sigma: {
      type: 'number',
      min: 0.3,
      max: 10,
      unit: 'px',
      help: 'Sharpens with care for flat areas, along edges of this width',
    },
  },
  resolve: ({ sharpen, sharpen_sigma }) =>
    sharpen_sigma === undefined ? { sharpen, sharpen_sigma } : { sharpen: undefined, sharpen_sigma },
  async transform(image, { sharpen_sigma: sigma }, { source, settle }) {
    const sharpened = (frame: Sharp) => (sigma === undefined ? frame.sharpen() : frame.sharpen({ sigma }))
    return source.pages === 1 ? sharpened(image) : settle(image, sharpened)
  },
})

import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/**
 * Turns a photo upright as its EXIF orientation says; what is sent has no metadata left that could say it again. It is
 * turned as it is opened: every other step sees it upright, wherever this one stands in the chain.
 */
export default definePlugin({
  name: 'image-orient',
  engine: 'sharp',
  phase: 'prepare',
  always: true,
  params: {},
  opening: () => ({ upright: true }),
  transform: (image) => image,
})

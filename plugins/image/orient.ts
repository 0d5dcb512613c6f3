import { definePlugin } from '../../src/core/plugin.ts'

/** Turns a photo upright as its EXIF orientation says; what is sent has no metadata left that could say it again. */
export default definePlugin({
  name: 'image-orient',
  engine: 'sharp',
  phase: 'prepare',
  always: true,
  params: {},
  transform: (image) => image.autoOrient(),
})

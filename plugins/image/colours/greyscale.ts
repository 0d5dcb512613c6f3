import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

/** Removes the colours, and preserves the perceived brightness. */
export default definePlugin({
  name: 'image-greyscale',
  engine: 'sharp',
  phase: 'effect',
  params: { greyscale: { type: 'flag', aliases: ['grayscale'], help: 'Converts the image to greyscale.' } },
  needs: () => 'outcome',
  transform: (image) => image.greyscale(),
})

import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

/**
 * Applies the EXIF orientation; the output has no metadata that would repeat it. The image is rotated when it is
 * opened, so every other step gets it upright, whatever the position of this plugin in the chain.
 */
export default definePlugin({
  name: 'image-orient',
  engine: 'sharp',
  phase: 'prepare',
  always: true,
  params: {},
  opening: () => ({ upright: true }),
  needs: () => 'any',
  keepsSize: true,
  transform: (image) => image,
})

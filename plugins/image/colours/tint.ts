import { CLEAR, colorOf } from '../../../src/core/media/color.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

/** Gives every pixel the hue of one colour, and preserves its brightness. */
export default definePlugin({
  name: 'image-tint',
  engine: 'sharp',
  phase: 'effect',
  params: { tint: { type: 'color', help: 'Tints the image with the hue of this colour.' } },
  // The alpha of the colour has no effect, unless it is fully transparent. Removed, so that equal outputs have one
  // name.
  resolve: ({ tint }) => (tint === CLEAR ? undefined : { tint: tint?.slice(0, 6) }),
  needs: () => 'outcome',
  // In its own colour space, a grey image would stay grey.
  transform: (image, { tint = '' }) => image.pipelineColourspace('srgb').tint(colorOf(tint)),
})

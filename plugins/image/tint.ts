import { CLEAR, colorOf } from '../../src/core/media/color.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** Gives every pixel the hue of one colour, and keeps how bright it is. */
export default definePlugin({
  name: 'image-tint',
  engine: 'sharp',
  phase: 'effect',
  params: { tint: { type: 'color', help: 'Tints the image with the hue of this colour.' } },
  // Of a colour that can be seen, its transparency has no effect: equal outcomes have one name.
  resolve: ({ tint }) => (tint === CLEAR ? undefined : { tint: tint?.slice(0, 6) }),
  // In the colours of the source, a grey picture would stay grey.
  transform: (image, { tint = '' }) => image.pipelineColourspace('srgb').tint(colorOf(tint)),
})

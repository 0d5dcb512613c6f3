import { definePlugin } from '../../src/core/plugin.ts'

/** Turns every colour into its opposite; what is transparent stays so. */
export default definePlugin({
  name: 'image-negate',
  engine: 'sharp',
  phase: 'effect',
  params: { negate: { type: 'flag', help: 'The negative: every colour becomes its opposite' } },
  transform: (image) => image.negate({ alpha: false }),
})

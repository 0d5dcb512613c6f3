import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/** Turns every colour into its opposite; what is transparent stays so. */
export default definePlugin({
  name: 'image-negate',
  engine: 'sharp',
  phase: 'effect',
  params: { negate: { type: 'flag', help: 'Inverts all colours.' } },
  transform(image, _, { source, settle }) {
    const negative = image.negate({ alpha: false })
    // Sharp puts white beneath what is transparent before all else, for a format without transparency: it would be
    // changed as well.
    return source.hasAlpha ? settle(negative) : negative
  },
})

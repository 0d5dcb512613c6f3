import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

/** Inverts every colour; transparency does not change. */
export default definePlugin({
  name: 'image-negate',
  engine: 'sharp',
  phase: 'effect',
  params: { negate: { type: 'flag', help: 'Inverts all colours.' } },
  needs: () => 'outcome',
  transform(image, _, { source, settle }) {
    const negative = image.negate({ alpha: false })
    // For a format without transparency, sharp puts white beneath transparent parts before everything else. This
    // white would change as well.
    return source.hasAlpha ? settle(negative) : negative
  },
})

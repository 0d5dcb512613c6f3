import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

/** Brightens the middle tones, and leaves black and white unchanged: each value to the power of 1 / gamma. */
export default definePlugin({
  name: 'image-gamma',
  engine: 'sharp',
  phase: 'effect',
  params: {
    gamma: {
      type: 'number',
      min: 1,
      max: 3,
      help: 'Gamma correction: brightens the midtones. 1: no change.',
    },
  },
  resolve: ({ gamma }) => (gamma === 1 ? undefined : { gamma }),
  needs: () => 'outcome',
  // With one number, sharp applies the gamma before a resize and reverts it after: it would have no visible effect.
  transform: (image, { gamma }) => image.gamma(1, gamma),
})

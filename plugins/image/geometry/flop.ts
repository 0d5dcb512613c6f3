import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { comesAfter } from './one-pass.mts'

/** Mirrors left and right, after the earlier steps: sharp would do it before it crops and rotates. */
export default definePlugin({
  name: 'image-flop',
  engine: 'sharp',
  phase: 'geometry',
  params: { flop: { type: 'flag', help: 'Mirrors the image horizontally.' } },
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, _params, context) {
    if (comesAfter(context, 'image-flip')) return image.flop()
    return (await context.settle(image)).draft.flop()
  },
})

import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { comesAfter } from './one-pass.mts'

/** Mirrors top and bottom, after the earlier steps: sharp would do it before it crops and rotates. */
export default definePlugin({
  name: 'image-flip',
  engine: 'sharp',
  phase: 'geometry',
  params: { flip: { type: 'flag', help: 'Mirrors the image vertically.' } },
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, _params, context) {
    if (comesAfter(context, 'image-resize')) return image.flip()
    const { source, settle } = context
    // sharp would flip all frames of an animation as one image, with the last frame first.
    if (source.pages > 1) return settle(image, (frame) => frame.flip())
    return (await settle(image)).draft.flip()
  },
})

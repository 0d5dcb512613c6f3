import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { comesAfter } from './one-pass.mts'

/** Mirrors top and bottom, after what comes before: sharp would do it before it cuts and turns. */
export default definePlugin({
  name: 'image-flip',
  engine: 'sharp',
  phase: 'geometry',
  params: { flip: { type: 'flag', help: 'Mirrors the image vertically.' } },
  holds: () => 'outcome',
  async transform(image, _params, context) {
    if (comesAfter(context, 'image-resize')) return image.flip()
    const { source, settle } = context
    // Sharp would turn all frames of an animation over as one, the last frame first.
    if (source.pages > 1) return settle(image, (frame) => frame.flip())
    return (await settle(image)).draft.flip()
  },
})

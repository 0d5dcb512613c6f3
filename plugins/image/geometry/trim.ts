import { type Box, isWhole, unionOf } from '../../../src/core/geometry/box.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

// sharp rejects a trim when both sides are shorter, such as a tracking pixel. Such an image is left unchanged.
const LEAST_SIDE = 3
const NOTHING = { width: 0, height: 0 }

/**
 * Removes a border in the colour of the upper left pixel, or a transparent one. For an animation, it removes the area
 * that is border in every frame. An image that is all border is left unchanged.
 */
export default definePlugin({
  name: 'image-trim',
  engine: 'sharp',
  phase: 'prepare',
  params: {
    trim: {
      type: 'number',
      min: 0,
      max: 255,
      bare: 10,
      help: 'Trims borders whose colour differs from the top left pixel by at most this value.',
    },
  },
  holds: () => 'source',
  async transform(image, { trim: threshold = 0 }, { source, settle, frames, signal }) {
    if (Math.max(source.width, source.height) < LEAST_SIDE) return image
    // With `lineArt`, sharp does not smooth the image first. Smoothing takes ten times as long (6 megapixels: 1.1 s
    // instead of 0.1 s), ignores the time limit, and moves the edge of a JPEG by three pixels.
    const trim = { threshold, lineArt: true }
    if (source.pages === 1) return settle(image.trim(trim))
    const boxes: Box[] = []
    for (const { draft } of await frames(image)) {
      signal.throwIfAborted()
      // Once other pixels have reached all edges, no area is border in every frame.
      if (isWhole(unionOf(boxes) ?? NOTHING, source)) return image
      // One channel is enough to get the position, for a quarter of the memory.
      const { info } = await draft.trim(trim).extractChannel(0).raw().toBuffer({ resolveWithObject: true })
      const { width, height, trimOffsetLeft = 0, trimOffsetTop = 0 } = info
      boxes.push({ left: -trimOffsetLeft, top: -trimOffsetTop, width, height })
    }
    const box = unionOf(boxes)
    if (!box || isWhole(box, source)) return image
    return settle(image.extract(box))
  },
})

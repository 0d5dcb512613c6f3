import { type Box, clippedBox } from '../../../src/core/geometry/box.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../../src/core/problem.ts'

// Above any image that is transformed: 50 megapixels in one line.
const MAX = 50_000_000

/** Crops to a part, in pixels of the upright image after a trim. For this, an SVG is drawn in its own size. */
export default definePlugin({
  name: 'image-crop',
  engine: 'sharp',
  phase: 'geometry',
  noOriginalFallback: true,
  params: {
    crop: {
      type: 'list',
      of: 'integer',
      names: ['x', 'y', 'w', 'h'],
      separator: ',',
      min: [0, 0, 1, 1],
      max: [MAX, MAX, MAX, MAX],
      unit: 'px',
      help: 'Crops to this size, with the top left corner at x, y of the source. Parts outside of the source are ignored.',
    },
  },
  opening: () => ({ inOwnPixels: true }),
  transform(image, { crop = [] }, { source }) {
    const [left = 0, top = 0, width = 0, height = 0] = crop
    const box = clippedBox({ left, top, width, height }, source)
    if (!box) {
      throw badParameter({
        param: 'crop',
        expected: `x and y within the ${source.width} x ${source.height} px of this image`,
        received: crop.join(),
      })
    }
    const format = source.format === 'svg' ? 'png' : source.format
    return { draft: image.extract(box), source: { ...source, format, ...sizeOf(box) } }
  },
})

function sizeOf({ width, height }: Box) {
  return { width, height }
}

import { checkOutput } from '../../src/core/geometry/output-limit.ts'
import { turnedSize } from '../../src/core/geometry/turned.ts'
import { definePlugin } from '../../src/core/plugin.ts'

const NOTHING = { r: 255, g: 255, b: 255, alpha: 0 }
// Leaves every pixel as it is. Where sharp convolves, it weighs colours by their alpha: else the slanted edges would
// take on the colour of what is transparent.
const IDENTITY = { width: 3, height: 3, kernel: [0, 0, 0, 0, 1, 0, 0, 0, 0] }

/** Turns a picture clockwise. Multiples of 90 keep every pixel; of other angles the corners are transparent. */
export default definePlugin({
  name: 'image-rotate',
  engine: 'sharp',
  phase: 'geometry',
  params: {
    rotate: {
      type: 'number',
      min: -360,
      max: 360,
      default: 0,
      unit: 'degrees',
      help: 'Turns it clockwise; its corners are transparent or of the colour bg',
    },
  },
  resolve({ rotate }) {
    const angle = ((rotate % 360) + 360) % 360
    return angle === 0 ? undefined : { rotate: angle }
  },
  transform(image, { rotate: angle }, { source, limits, settle }) {
    if (angle % 90 === 0) return settle(image, (frame) => frame.rotate(angle))
    const { pages } = source
    checkOutput(turnedSize(source, angle), { pages, limits, expected: 'an angle that makes' })
    return settle(image.ensureAlpha(), (frame) =>
      frame.rotate(angle, { background: NOTHING }).convolve(IDENTITY),
    )
  },
})

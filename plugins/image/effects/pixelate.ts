import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { pixelated } from './conceal.mts'

/** Replaces the image by squares of one colour each. */
export default definePlugin({
  name: 'image-pixelate',
  engine: 'sharp',
  phase: 'effect',
  noOriginalFallback: true,
  params: {
    pixelate: {
      type: 'integer',
      min: 2,
      max: 1000,
      unit: 'px',
      help: 'Side of squares of one colour each, which replace the image. Multiplied by dpr.',
    },
  },
  needs: () => 'outcome',
  holds: () => 'outcome',
  transform: (image, { pixelate = 2 }, { source, settle }) =>
    settle(image, (frame, size) => pixelated(frame, size, pixelate * source.dpr)),
})

import { checkOutput } from '../../../src/core/geometry/output-limit.ts'
import { turnedSize } from '../../../src/core/geometry/turned.ts'
import { EMPTY } from '../../../src/core/media/color.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { comesAfter } from './one-pass.mts'

/** Rotates an image clockwise. Multiples of 90 preserve every pixel. Other angles leave transparent corners. */
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
      help: 'Rotates the image clockwise. New corners are transparent, or have the colour bg.',
    },
  },
  resolve({ rotate }) {
    const angle = ((rotate % 360) + 360) % 360
    return angle === 0 ? undefined : { rotate: angle }
  },
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, { rotate: angle }, context) {
    const { source, limits, settle } = context
    const { pages } = source
    const size = turnedSize(source, angle)
    if (angle % 90 === 0) {
      if (comesAfter(context, 'image-flop'))
        return { draft: image.rotate(angle), source: { ...source, ...size } }
      if (pages > 1) return settle(image, (frame) => frame.rotate(angle))
      // After the earlier steps, and from pixels that are in memory already.
      const settled = await settle(image)
      return { draft: settled.draft.rotate(angle), source: { ...settled.source, ...size } }
    }
    checkOutput(size, { pages, limits, expected: 'an angle that results in' })
    // sharp rotates the pixels of a resized transparent image while their colours are multiplied by their opacity.
    if (!source.hasAlpha && comesAfter(context, 'image-flop')) {
      const outcome = { ...source, ...size, hasAlpha: true, framed: true, gainMap: undefined } as const
      return { draft: image.rotate(angle, { background: EMPTY }), source: outcome }
    }
    return settle(image, (frame) => frame.rotate(angle, { background: EMPTY }))
  },
})

import { checkOutput, SIDE_MAX } from '../../../src/core/geometry/output-limit.ts'
import { EMPTY } from '../../../src/core/media/color.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { comesAfter } from './one-pass.mts'

/** Adds a border around the image of the earlier steps; transparent, or of the colour `bg`. */
export default definePlugin({
  name: 'image-pad',
  engine: 'sharp',
  phase: 'compose',
  params: {
    pad: {
      type: 'list',
      of: 'integer',
      names: ['top', 'right', 'bottom', 'left'],
      separator: ',',
      min: [0, 0, 0, 0],
      max: [SIDE_MAX, SIDE_MAX, SIDE_MAX, SIDE_MAX],
      unit: 'px',
      atLeast: 1,
      help: 'Adds padding outside w and h, multiplied by dpr. One to four numbers set the sides as in CSS.',
    },
  },
  resolve({ pad = [] }) {
    const sides = fourSides(pad)
    return sides.some((side) => side > 0) ? { pad: fewest(sides) } : undefined
  },
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, { pad = [] }, context) {
    const { source, limits, settle } = context
    const [top, right, bottom, left] = fourSides(pad).map((side) => Math.round(side * source.dpr)) as Sides
    const size = { width: source.width + left + right, height: source.height + top + bottom }
    checkOutput(size, { pages: source.pages, limits, expected: 'a pad that results in' })
    const { draft: inner } = comesAfter(context, 'image-rotate') ? { draft: image } : await settle(image)
    const draft = inner.extend({ top, right, bottom, left, background: EMPTY })
    return { draft, source: { ...source, ...size, hasAlpha: true } }
  },
})

type Sides = [top: number, right: number, bottom: number, left: number]

function fourSides([top = 0, right = top, bottom = top, left = right]: readonly number[]): Sides {
  return [top, right, bottom, left]
}

/** The shortest equal list. */
function fewest([top, right, bottom, left]: Sides): number[] {
  if (left !== right) return [top, right, bottom, left]
  if (bottom !== top) return [top, right, bottom]
  return right === top ? [top] : [top, right]
}

import { COMPASS, COMPASS_SYNONYMS, COMPASS_WORDS } from '../../../src/core/geometry/focus.ts'
import { colorOf } from '../../../src/core/media/color.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { drawnOver } from './overlay.mts'

const SIDES = COMPASS_WORDS.filter((word) => word !== 'center')
const SIDE_SYNONYMS = Object.fromEntries(
  Object.entries(COMPASS_SYNONYMS).filter(([, word]) => word !== 'center'),
)

/** Lays a colour over the image that fades out: for a text that must be readable on any image. */
export default definePlugin({
  name: 'image-gradient',
  engine: 'sharp',
  phase: 'compose',
  // The gradient depends on the size of the outcome.
  newPass: true,
  params: {
    gradient: {
      type: 'color',
      help: 'Colour of a gradient over the image: of this colour at one side, and transparent at its end.',
    },
    gradient_pos: {
      type: 'enum',
      values: SIDES,
      synonyms: SIDE_SYNONYMS,
      default: 'south',
      help: 'The side or corner at which the gradient begins.',
    },
    gradient_size: {
      type: 'integer',
      min: 1,
      max: 100,
      unit: 'percent',
      default: 50,
      help: 'The part of the image that the gradient covers.',
    },
  },
  resolve: (params) =>
    params.gradient === undefined || colorOf(params.gradient).alpha === 0 ? undefined : params,
  needs: () => 'outcome',
  transform(image, { gradient = '', gradient_pos, gradient_size }, { source }) {
    const { x, y } = COMPASS[gradient_pos as keyof typeof COMPASS]
    const { r, g, b, alpha } = colorOf(gradient)
    const color = `stop-color="rgb(${r},${g},${b})"`
    const stops = [
      `<stop offset="0" ${color} stop-opacity="${alpha}"/>`,
      `<stop offset="${gradient_size / 100}" ${color} stop-opacity="0"/>`,
    ]
    const line = `x1="${x}" y1="${y}" x2="${1 - x}" y2="${1 - y}"`
    return drawnOver(image, source, `<linearGradient id="a" ${line}>${stops.join('')}</linearGradient>`)
  },
})

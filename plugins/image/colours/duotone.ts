import { colorOf } from '../../../src/core/media/color.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

// The share of each channel in the brightness of a pixel, of BT.709.
const LUMA = [0.2126, 0.7152, 0.0722] as const

/** Maps the brightness of each pixel to a colour between two: black becomes the dark one, white the light one. */
export default definePlugin({
  name: 'image-duotone',
  engine: 'sharp',
  phase: 'effect',
  // sharp would apply a gamma correction, a sharpening and the like between the two operations.
  newPass: true,
  params: {
    duotone_dark: {
      type: 'color',
      default: '000000',
      help: 'Duotone: the colour of black. Greys get a colour between duotone_dark and duotone_light.',
    },
    duotone_light: { type: 'color', default: 'ffffff', help: 'Duotone: the colour of white.' },
  },
  // A transparent colour has no meaning here. Removed, so that equal outputs have one name.
  resolve: ({ duotone_dark, duotone_light }) => ({
    duotone_dark: duotone_dark.slice(0, 6),
    duotone_light: duotone_light.slice(0, 6),
  }),
  needs: () => 'outcome',
  holds: () => 'outcome',
  transform(image, { duotone_dark, duotone_light }, { settle }) {
    const [dark, light] = [colorOf(duotone_dark), colorOf(duotone_light)]
    const channels = ['r', 'g', 'b'] as const
    const rowOf = (channel: (typeof channels)[number]): [number, number, number] => {
      const scale = (light[channel] - dark[channel]) / 255
      return [LUMA[0] * scale, LUMA[1] * scale, LUMA[2] * scale]
    }
    const offsets = channels.map((channel) => dark[channel])
    const mapped = image.recomb([rowOf('r'), rowOf('g'), rowOf('b')]).linear([1, 1, 1], offsets)
    return settle(mapped)
  },
})

import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { drawnOver } from './overlay.mts'

/** Darkens the image towards its corners, along an ellipse. */
export default definePlugin({
  name: 'image-vignette',
  engine: 'sharp',
  phase: 'compose',
  // The ellipse depends on the size of the outcome.
  newPass: true,
  params: {
    vignette: {
      type: 'number',
      min: 0,
      max: 100,
      bare: 50,
      unit: 'percent',
      help: 'Darkens the corners by this much.',
    },
  },
  resolve: ({ vignette = 0 }) => (vignette === 0 ? undefined : { vignette }),
  needs: () => 'outcome',
  transform(image, { vignette = 0 }, { source }) {
    // The ellipse around the corners has a radius of 0.71 of the sides. The middle does not change.
    const stops = [0.4, 0.6, 0.8, 1].map((offset) => {
      const opacity = ((offset - 0.4) / 0.6) ** 2 * (vignette / 100)
      return `<stop offset="${offset}" stop-color="#000" stop-opacity="${opacity}"/>`
    })
    const gradient = `<radialGradient id="a" cx="0.5" cy="0.5" r="0.7072">${stops.join('')}</radialGradient>`
    return drawnOver(image, source, gradient)
  },
})

import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/**
 * Rounds the corners as `border-radius` in CSS: percentages are of the width horizontally and of the height
 * vertically. So 50 percent give an ellipse, and for equal sides a circle.
 */
export default definePlugin({
  name: 'image-radius',
  engine: 'sharp',
  phase: 'compose',
  newPass: true,
  params: {
    radius: {
      type: 'number',
      min: 0,
      max: 100,
      default: 0,
      unit: 'percent',
      aliases: ['rs'],
      help: 'Rounds the corners. From 50: an ellipse, or a circle if both sides are equal.',
    },
  },
  resolve: ({ radius }) => (radius === 0 ? undefined : { radius: Math.min(radius, 50) }),
  // In addition to the new pass: the output of this step is settled once more.
  holds: () => 'outcome',
  needs: () => 'outcome',
  transform(image, { radius }, { source: { width, height }, settle }) {
    const [rx, ry] = [(width * radius) / 100, (height * radius) / 100]
    const rectangle = `<rect width="${width}" height="${height}" rx="${rx}" ry="${ry}"/>`
    const mask = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${rectangle}</svg>`
    // The frames of an animation are stacked vertically, and each gets the same mask. Before a flattening the result
    // must be pixels: sharp flattens before it composites.
    return settle(
      image.composite([{ input: Buffer.from(mask), blend: 'dest-in', tile: true, gravity: 'northwest' }]),
    )
  },
})

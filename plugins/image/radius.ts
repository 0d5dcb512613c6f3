import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

/**
 * Rounds the corners as `border-radius` of CSS does: a percentage is of the width across and of the height down, so that
 * 50 percent make an ellipse, of equal sides a circle.
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
  // Beside the pass that it begins: what it makes is settled once more.
  holds: () => 'outcome',
  transform(image, { radius }, { source: { width, height }, settle }) {
    const [rx, ry] = [(width * radius) / 100, (height * radius) / 100]
    const rectangle = `<rect width="${width}" height="${height}" rx="${rx}" ry="${ry}"/>`
    const mask = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${rectangle}</svg>`
    // The frames of an animation stand one below the other, and each gets the same mask. To be flattened, it has to be
    // pixels: sharp flattens before it composes.
    return settle(
      image.composite([{ input: Buffer.from(mask), blend: 'dest-in', tile: true, gravity: 'northwest' }]),
    )
  },
})

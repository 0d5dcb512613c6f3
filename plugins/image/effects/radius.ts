import type { Point, Size } from '../../../src/core/geometry/box.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

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
      type: 'list',
      of: 'number',
      names: ['topleft', 'topright', 'bottomright', 'bottomleft'],
      separator: ',',
      min: [0, 0, 0, 0],
      max: [100, 100, 100, 100],
      unit: 'percent',
      atLeast: 1,
      aliases: ['rs'],
      help: 'Rounds the corners. One to four numbers set the corners as in CSS. From 50: an ellipse, or a circle if both sides are equal.',
    },
  },
  resolve({ radius = [] }) {
    const corners = fourCorners(radius)
    return corners.some((corner) => corner > 0) ? { radius: fewest(corners) } : undefined
  },
  needs: () => 'outcome',
  // In addition to the new pass: the output of this step is settled once more.
  holds: () => 'outcome',
  transform(image, { radius = [] }, { source: { width, height }, settle }) {
    const path = outline(fourCorners(radius), { width, height })
    const mask = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><path d="${path}"/></svg>`
    // The frames of an animation are stacked vertically, and each gets the same mask. Before a flattening the result
    // must be pixels: sharp flattens before it composites.
    return settle(
      image.composite([{ input: Buffer.from(mask), blend: 'dest-in', tile: true, gravity: 'northwest' }]),
    )
  },
})

type Corners = [topLeft: number, topRight: number, bottomRight: number, bottomLeft: number]

/**
 * All four corners, in percent. Where two of them need more than a side, all become smaller by the same factor.
 *
 * @see https://www.w3.org/TR/css-backgrounds-3/#corner-overlap
 */
function fourCorners([tl = 0, tr = tl, br = tl, bl = tr]: readonly number[]): Corners {
  const factor = Math.min(1, ...[tl + tr, tr + br, br + bl, bl + tl].map((sum) => 100 / sum))
  return [tl * factor, tr * factor, br * factor, bl * factor]
}

/** The shortest equal list. */
function fewest([tl, tr, br, bl]: Corners): number[] {
  if (bl !== tr) return [tl, tr, br, bl]
  if (br !== tl) return [tl, tr, br]
  return tr === tl ? [tl] : [tl, tr]
}

function outline(corners: Corners, { width, height }: Size): string {
  const [tl, tr, br, bl] = corners.map((corner) => ({
    x: (width * corner) / 100,
    y: (height * corner) / 100,
  }))
  if (!tl || !tr || !br || !bl) throw new Error('expected four corners')
  const arc = ({ x, y }: Point, toX: number, toY: number) => `A${x} ${y} 0 0 1 ${toX} ${toY}`
  return [
    `M${tl.x} 0H${width - tr.x}`,
    arc(tr, width, tr.y),
    `V${height - br.y}`,
    arc(br, width - br.x, height),
    `H${bl.x}`,
    arc(bl, 0, height - bl.y),
    `V${tl.y}`,
    arc(tl, tl.x, 0),
    'Z',
  ].join('')
}

import sharp, { type OverlayOptions, type Sharp } from 'sharp'
import type { Size } from '../../../src/core/geometry/box.ts'
import { COMPASS, type CompassWord } from '../../../src/core/geometry/focus.ts'
import { EMPTY } from '../../../src/core/media/color.ts'
import type { Engines } from '../../../src/core/plugin-api/plugin.ts'

/** Red, green, blue and alpha of each pixel. */
export interface Layer extends Size {
  data: Buffer
}

/**
 * Lays a layer over every frame of an image. The channels do not change: an image without transparency gets none.
 *
 * @param source facts about the image, with its present size
 * @param layer no larger than a frame
 * @param place `tile`: repeated, from the top left
 * @param margin to the edges, in px
 */
export async function laidOver(
  image: Sharp,
  source: Engines['sharp']['source'],
  { layer, place, margin = 0 }: { layer: Layer; place: CompassWord | 'tile'; margin?: number },
): Promise<Sharp> {
  const { width, height } = layer
  const where = place === 'tile' ? { tile: true, left: 0, top: 0 } : placed(source, layer, { place, margin })
  const single = { input: layer.data, raw: { width, height, channels: 4 as const }, ...where }
  const over = source.pages === 1 ? single : await ofEachFrame(single, source)
  const outcome = image.composite([over])
  return source.hasAlpha ? outcome : outcome.removeAlpha()
}

/**
 * Fills every frame of an image with a gradient. The channels do not change: an image without transparency gets none.
 *
 * @param gradient an SVG element with the id `a`, in units of the frame: 0 to 1
 */
export function drawnOver(
  image: Sharp,
  { width, height, hasAlpha }: Engines['sharp']['source'],
  gradient: string,
): Sharp {
  const fill = `<defs>${gradient}</defs><rect width="100%" height="100%" fill="url(#a)"/>`
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${fill}</svg>`
  // Where the image is transparent, it stays transparent.
  const outcome = image.composite([
    { input: Buffer.from(svg), blend: 'atop', tile: true, gravity: 'northwest' },
  ])
  return hasAlpha ? outcome : outcome.removeAlpha()
}

function placed(frame: Size, layer: Size, { place, margin }: { place: CompassWord; margin: number }) {
  const offset = (room: number, at: number) => {
    const gap = Math.min(margin, Math.floor(room / 2))
    return gap + Math.floor((room - 2 * gap) * at)
  }
  const { x, y } = COMPASS[place]
  return { left: offset(frame.width - layer.width, x), top: offset(frame.height - layer.height, y) }
}

/** For sharp all frames are one tall image: a layer as large as a frame, repeated, covers each of them. */
async function ofEachFrame(single: OverlayOptions, { width, height }: Size): Promise<OverlayOptions> {
  const input = await sharp({ create: { width, height, channels: 4, background: EMPTY } })
    .composite([single])
    .raw()
    .toBuffer()
  return { input, raw: { width, height, channels: 4 }, tile: true, left: 0, top: 0 }
}

import sharp, { type OverlayOptions, type Sharp } from 'sharp'
import type { Engines } from '../../src/core/plugin.ts'

/** Where something may be laid over a picture. */
export const PLACES = [
  'center',
  'north',
  'northeast',
  'east',
  'southeast',
  'south',
  'southwest',
  'west',
  'northwest',
] as const
export type Place = (typeof PLACES)[number]

/** Red, green, blue and transparency of each pixel. */
export interface Layer {
  data: Buffer
  width: number
  height: number
}

/**
 * Lays a layer over every frame of a picture, which keeps its channels: one without transparency gets none.
 *
 * @param source what is known of the picture, in its size as it is now
 * @param layer no larger than a frame
 * @param place `tile`: again and again, from the top left
 * @param margin to the edges, in px
 */
export async function laidOver(
  image: Sharp,
  source: Engines['sharp']['source'],
  { layer, place, margin = 0 }: { layer: Layer; place: Place | 'tile'; margin?: number },
): Promise<Sharp> {
  const { width, height } = layer
  const where =
    place === 'tile'
      ? { tile: true, left: 0, top: 0 }
      : {
          left: offset(source.width - width, { place, before: 'west', after: 'east', margin }),
          top: offset(source.height - height, { place, before: 'north', after: 'south', margin }),
        }
  const single = { input: layer.data, raw: { width, height, channels: 4 as const }, ...where }
  const over = source.pages === 1 ? single : await ofEachFrame(single, source)
  const outcome = image.composite([over])
  return source.hasAlpha ? outcome : outcome.removeAlpha()
}

function offset(
  room: number,
  { place, before, after, margin }: { place: Place; before: string; after: string; margin: number },
): number {
  const kept = Math.min(margin, Math.floor(room / 2))
  if (place.includes(before)) return kept
  return place.includes(after) ? room - kept : Math.floor(room / 2)
}

/** To sharp all frames are one tall picture: a layer as large as a frame, again and again, lies on each of them. */
async function ofEachFrame(
  single: OverlayOptions,
  { width, height }: { width: number; height: number },
): Promise<OverlayOptions> {
  const nothing = { r: 0, g: 0, b: 0, alpha: 0 }
  const input = await sharp({ create: { width, height, channels: 4, background: nothing } })
    .composite([single])
    .raw()
    .toBuffer()
  return { input, raw: { width, height, channels: 4 }, tile: true, left: 0, top: 0 }
}

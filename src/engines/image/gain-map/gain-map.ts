import sharp, { type Metadata, type Sharp } from 'sharp'
import type { Size } from '../../../core/geometry/box.ts'
import type { TransformLimits } from '../../../core/plugin-api/limits.ts'
import type { ImageInput } from '../header.ts'
import { timed } from '../passes.ts'
import type { GainMap } from '../source.ts'
import { gainsIn, joined } from './jpeg.ts'

const QUALITY = 85

/** Reads the gain map of a JPEG. Undefined without one, and for one that cannot be read. */
export async function readGainMap(input: ImageInput): Promise<GainMap | undefined> {
  // From the input itself: cached headers do not have its bytes. Whether the image can be read is found out later.
  const { gainMap, width, orientation = 1 } = await metadataOf(input)
  if (!gainMap || width === undefined || gainsIn(gainMap.image).length === 0) return undefined
  const map = await metadataOf(gainMap.image)
  if (map.width === undefined) return undefined
  return { bytes: gainMap.image, orientation, scale: map.width / width }
}

async function metadataOf(input: ImageInput): Promise<Partial<Metadata>> {
  return sharp(input, { limitInputPixels: false, failOn: 'none' })
    .metadata()
    .catch(() => ({}))
}

/**
 * Adds the gain map to a JPEG of the whole photo, in the same relation of their sizes.
 *
 * libvips could do both at once (`keepGainMap`), but without its cache it reads freed memory for a turned photo, decodes all pixels of
 * a photo for a small output, and omits the description in XMP.
 *
 * @returns the JPEG itself when the gain map is broken
 */
export async function withGainMap(
  jpeg: Buffer,
  gainMap: GainMap,
  output: Size & { limits: TransformLimits },
): Promise<Buffer> {
  const map = await resized(gainMap, output).catch(() => undefined)
  return map ? joined(jpeg, { map, gains: gainsIn(gainMap.bytes) }) : jpeg
}

async function resized(
  { bytes, orientation, scale }: GainMap,
  { limits, ...photo }: Size & { limits: TransformLimits },
): Promise<Buffer> {
  const [width, height] = [photo.width, photo.height].map((side) => Math.max(1, Math.round(side * scale)))
  const { channels } = await sharp(bytes).metadata()
  const turned = upright(sharp(bytes, { limitInputPixels: limits.sourceMaxPixels }), orientation)
  // Other kernels would overshoot at edges: dark seams next to lamps.
  const map = turned.resize(width, height, { fit: 'fill', kernel: 'linear' })
  const encoded = channels === 1 ? map.toColourspace('b-w') : map
  return timed(encoded, limits).jpeg({ quality: QUALITY, chromaSubsampling: '4:4:4' }).toBuffer()
}

/** Mirrors and rotates by an EXIF orientation, which the gain map itself does not have. @see Exif 2.32, tag 0x0112 */
function upright(map: Sharp, orientation: number): Sharp {
  const angle = { 3: 180, 4: 180, 5: 270, 6: 90, 7: 90, 8: 270 }[orientation] ?? 0
  // sharp mirrors first.
  const turned = map.rotate(angle)
  return [2, 4, 5, 7].includes(orientation) ? turned.flop() : turned
}

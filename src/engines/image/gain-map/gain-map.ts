import { readFile } from 'node:fs/promises'
import sharp, { type Metadata, type Sharp } from 'sharp'
import type { Size } from '../../../core/geometry/box.ts'
import type { TransformLimits } from '../../../core/plugin-api/limits.ts'
import type { ImageHeader, ImageInput } from '../header.ts'
import { timed } from '../passes.ts'
import type { GainMap } from '../source.ts'
import { APPLE_XMP_NAMESPACE, appleGains } from './apple.ts'
import { avifWithGainMap } from './avif.ts'
import { gainMapIn } from './heif-gain-map.ts'
import { EXIF, gainsIn, jpegWithGainMap, xmpIn } from './jpeg.ts'
import { imagesAfter } from './multi-picture.ts'
import { gainMapInTiff, tiffWithGainMap } from './tiff.ts'

const QUALITY = 85
// Of the encoder of AVIF, as for images.
const EFFORT = 2

/** A gain map of this size may be larger than its photo. */
export const SMALL_PIXELS = 1_000_000

/** The formats of outputs that can have a gain map, and of smaller copies. */
export const MAPPED_FORMATS: ReadonlySet<string> = new Set(['jpeg', 'avif', 'tiff'])

type Found = Pick<GainMap, 'bytes' | 'gains' | 'curve'>

/** Reads the gain map of a JPEG, of an AVIF, or of a smaller copy, which may be a TIFF. Undefined without one, and for one that cannot be used. */
export async function readGainMap(
  input: ImageInput,
  { format }: Pick<ImageHeader, 'format'>,
): Promise<GainMap | undefined> {
  // From the input itself: cached headers do not have its bytes. Whether the image can be read is found out later.
  const photo = await metadataOf(input)
  const found =
    format === 'jpeg' || typeof input === 'string'
      ? await inJpeg(input, photo)
      : format === 'tiff'
        ? inCopy(input)
        : gainMapIn(input)
  return found && fitted(found, photo)
}

/**
 * Adds to a gain map its relation to the photo. Undefined for one that is far larger.
 *
 * @param photo.orientation by which both are turned
 */
export async function fitted(
  found: Found,
  {
    width = 0,
    height = 0,
    orientation = 1,
  }: { width?: number; height?: number; orientation?: number | undefined },
): Promise<GainMap | undefined> {
  const map = await metadataOf(found.bytes)
  if (!map.width || !map.height || width === 0) return undefined
  // The limits and the forecast of memory are for the photo.
  if (map.width * map.height > Math.max(width * height, SMALL_PIXELS)) return undefined
  return { ...found, orientation, scale: Math.min(1, map.width / width) }
}

async function inJpeg(input: ImageInput, { exif }: Partial<Metadata>): Promise<Found | undefined> {
  const jpeg = typeof input === 'string' ? await readFile(input) : input
  for (const bytes of imagesAfter(jpeg)) {
    const gains = gainsIn(bytes)
    if (gains) return { bytes, gains }
    const described = xmpIn(bytes)
    const ofApple = described.includes(APPLE_XMP_NAMESPACE)
      ? appleGains({ xmp: described, exif: exif?.subarray(EXIF.length) })
      : undefined
    if (ofApple) return { bytes, ...ofApple }
  }
  return undefined
}

function inCopy(tiff: Buffer): Found | undefined {
  const bytes = gainMapInTiff(tiff)
  const gains = bytes && gainsIn(bytes)
  return gains && { bytes, gains }
}

async function metadataOf(input: ImageInput): Promise<Partial<Metadata>> {
  return sharp(input, { limitInputPixels: false, failOn: 'none' })
    .metadata()
    .catch(() => ({}))
}

/**
 * Adds the gain map to an image of the whole photo, in the same relation of their sizes.
 *
 * libvips could do both at once for a JPEG (`keepGainMap`), but without its cache it reads freed memory for a turned photo, decodes all
 * pixels of a photo for a small output, and omits the description in XMP.
 *
 * @param output.isDisplayP3 the colours are those of Display P3 instead of sRGB
 * @returns the image itself when the gain map is broken
 */
export async function withGainMap(
  image: Buffer,
  gainMap: GainMap,
  output: Output & { isDisplayP3: boolean },
): Promise<Buffer> {
  const { format, isDisplayP3 } = output
  const map = await resized(gainMap, output).catch(() => undefined)
  if (!map) return image
  const { gains } = gainMap
  if (format === 'tiff') return tiffWithGainMap(image, { map, gains })
  if (format === 'avif') return avifWithGainMap(image, { map, gains, isDisplayP3 }) ?? image
  return jpegWithGainMap(image, { map, gains })
}

interface Output {
  size: Size
  /** One of {@link MAPPED_FORMATS}. */
  format: string
  limits: TransformLimits
}

async function resized(
  { bytes, orientation, scale, curve }: GainMap,
  { format, limits, size }: Output,
): Promise<Buffer> {
  const [width, height] = [size.width, size.height].map((side) => Math.max(1, Math.round(side * scale)))
  const { channels } = await sharp(bytes).metadata()
  const turned = upright(sharp(bytes, { limitInputPixels: limits.sourceMaxPixels }), orientation)
  // Other kernels would overshoot at edges: dark seams next to lamps.
  const map = turned.resize(width, height, { fit: 'fill', kernel: 'linear' })
  const inGains = curve ? await curved(timed(map, limits), curve) : map
  const encoded = timed(channels === 1 || curve ? inGains.toColourspace('b-w') : inGains, limits)
  const options = { quality: QUALITY, chromaSubsampling: '4:4:4' }
  return (format === 'avif' ? encoded.avif({ ...options, effort: EFFORT }) : encoded.jpeg(options)).toBuffer()
}

/** Replaces each value of a grey image. */
async function curved(map: Sharp, curve: Uint8Array): Promise<Sharp> {
  const grey = map.toColourspace('b-w').raw({ depth: 'uchar' })
  const { data, info } = await grey.toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  for (const [i, value] of data.entries()) data[i] = curve[value] ?? value
  return sharp(data, { raw: { width, height, channels } })
}

/** Mirrors and rotates by an EXIF orientation, which the gain map itself does not have. @see Exif 2.32, tag 0x0112 */
function upright(map: Sharp, orientation: number): Sharp {
  const angle = { 3: 180, 4: 180, 5: 270, 6: 90, 7: 90, 8: 270 }[orientation] ?? 0
  // sharp mirrors first.
  const turned = map.rotate(angle)
  return [2, 4, 5, 7].includes(orientation) ? turned.flop() : turned
}

import sharp from 'sharp'
import type { Size } from '../../core/geometry/box.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { notTransformable, truncatedImage } from '../../core/transform-problems.ts'
import { decoding } from './failures.ts'
import type { ImageHeader } from './header.ts'
import { inspectSvg } from './svg-limits.ts'

/** @throws Problem 422 for a file that is too long */
export function checkBytes({ size }: { size: number }, { sourceMaxBytes }: TransformLimits): void {
  if (size <= sourceMaxBytes) return
  throw notTransformable(
    `expected an image of at most ${sourceMaxBytes} bytes to transform but this one has ${size}`,
  )
}

/** @throws Problem 422 for a file that ends too early, where such files are refused */
export function checkComplete(
  { truncated: isTruncated }: { truncated?: true },
  { truncated }: TransformLimits,
): void {
  if (isTruncated && truncated === 'refuse') throw truncatedImage()
}

/** @throws Problem 422 for a picture of too many pixels over all its frames */
export function checkPixels(
  { width, height, pages }: Size & { pages: number },
  { sourceMaxPixels }: TransformLimits,
): void {
  const pixels = width * height * pages
  if (pixels <= sourceMaxPixels) return
  throw notTransformable(
    `expected at most ${sourceMaxPixels} pixels over all frames to transform but this image has ${pixels}`,
  )
}

// Red, green, blue and transparency in 8 bits each: what the limit of pixels reckons with.
const BYTES_PER_PIXEL = 4

/**
 * Neither an interlaced image nor one that is to be turned can be read row by row: all of it is held. So is one of more
 * than four channels, which is rendered without them first.
 * @throws Problem 422 for one that takes more memory than the limit of pixels means
 */
export function checkHeld(
  header: ImageHeader,
  { width, height, pages }: Size & { pages: number },
  { sourceMaxPixels }: TransformLimits,
): void {
  if (!header.isProgressive && (header.orientation ?? 1) === 1 && !hasExtraChannels(header)) return
  const maxBytes = sourceMaxPixels * BYTES_PER_PIXEL
  const held = width * height * pages * bytesPerPixel(header)
  if (held <= maxBytes) return
  throw notTransformable(
    `expected at most ${maxBytes} bytes of pixels of an interlaced or rotated image to transform but this one has ${held}`,
  )
}

/** Whether it has channels beside its colours and alpha: bands of a satellite, spot colours. */
export function hasExtraChannels({ channels, space }: Pick<ImageHeader, 'channels' | 'space'>): boolean {
  const ofColours = { 'b-w': 1, grey16: 1, cmyk: 4 }[space as string] ?? 3
  return channels > ofColours + 1
}

function bytesPerPixel({ channels, depth }: ImageHeader): number {
  const bytes = { uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 }[depth as string] ?? 16
  return channels * bytes
}

/** @throws Problem 422 for what would be too much to draw */
export async function checkSvg(bytes: Buffer, { sourceMaxPixels }: TransformLimits): Promise<void> {
  const { tooMuch, pictures } = inspectSvg(bytes)
  if (tooMuch)
    throw notTransformable(`expected an SVG ${tooMuch} to transform but this one exceeds that limit`)
  let pixels = 0
  for (const picture of pictures) {
    const { width, height } = await decoding(() => sharp(picture, { limitInputPixels: false }).metadata())
    // librsvg decodes the whole of each, however small it is drawn.
    pixels += width * height
    if (pixels > sourceMaxPixels) {
      throw notTransformable(
        `expected an SVG with at most ${sourceMaxPixels} pixels in embedded images to transform but this one has more`,
      )
    }
  }
}

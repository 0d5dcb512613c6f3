import sharp from 'sharp'
import type { Size } from '../../core/geometry/box.ts'
import type { TransformLimits } from '../../core/plugin-api/limits.ts'
import { badParameter } from '../../core/problem.ts'
import { notTransformable, truncatedImage } from '../../core/transform-problems.ts'
import { decoding } from './failures.ts'
import type { ImageHeader } from './header.ts'
import { inspectSvg } from './svg/limits.ts'

/** @throws Problem 422 for a file that is too large */
export function checkBytes({ size }: { size: number }, { sourceMaxBytes }: TransformLimits): void {
  if (size <= sourceMaxBytes) return
  throw notTransformable(
    `expected a file of at most ${sourceMaxBytes} bytes to transform but this one has ${size}`,
  )
}

/** @throws Problem 422 for a truncated file, when the limits refuse such files */
export function checkComplete(
  { truncated: isTruncated }: { truncated?: true },
  { truncated }: TransformLimits,
): void {
  if (isTruncated && truncated === 'refuse') throw truncatedImage()
}

/** @throws Problem 422 for an image of too many pixels over all its frames */
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

/** @throws Problem 400 for a page after the last one */
export function checkPage(page: number, { pages = 1 }: { pages?: number | undefined }): void {
  if (page <= pages) return
  const expected = `an integer from 1 to ${pages} (the number of pages of this file)`
  throw badParameter({ param: 'page', expected, received: String(page) })
}

// Red, green, blue and alpha of 8 bits each, as the pixel limit assumes.
const BYTES_PER_PIXEL = 4

/**
 * An interlaced image, or one that must be rotated, cannot be read row by row, so all of it is held in memory. So is
 * one of more than four channels, which is first rendered without the extra channels.
 * @throws Problem 422 for an image that needs more memory than the pixel limit allows
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

/** Whether it has channels in addition to colours and alpha: bands of a satellite, spot colours. */
export function hasExtraChannels({ channels, space }: Pick<ImageHeader, 'channels' | 'space'>): boolean {
  const ofColours = { 'b-w': 1, grey16: 1, cmyk: 4 }[space as string] ?? 3
  return channels > ofColours + 1
}

function bytesPerPixel({ channels, depth }: ImageHeader): number {
  const bytes = { uchar: 1, char: 1, ushort: 2, short: 2, uint: 4, int: 4, float: 4 }[depth as string] ?? 16
  return channels * bytes
}

/** @throws Problem 422 for an SVG that would cost too much to draw */
export async function checkSvg(bytes: Buffer, { sourceMaxPixels }: TransformLimits): Promise<void> {
  const { tooMuch, images } = inspectSvg(bytes)
  if (tooMuch)
    throw notTransformable(`expected an SVG ${tooMuch} to transform but this one exceeds that limit`)
  let pixels = 0
  for (const image of images) {
    const { width, height } = await decoding(() => sharp(image, { limitInputPixels: false }).metadata())
    // librsvg decodes each embedded image completely, however small it is drawn.
    pixels += width * height
    if (pixels > sourceMaxPixels) {
      throw notTransformable(
        `expected an SVG with at most ${sourceMaxPixels} pixels in embedded images to transform but this one has more`,
      )
    }
  }
}

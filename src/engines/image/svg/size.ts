import sharp from 'sharp'
import type { Size } from '../../../core/geometry/box.ts'
import type { Problem } from '../../../core/problem.ts'
import { notTransformable } from '../../../core/transform-problems.ts'

// At this density an SVG of one pixel has 100; the usual density is 72.
const CLOSE_DENSITY = 7200
const MIN_CLOSE_SIDE = 10
// Each side is rounded, by up to half a pixel.
const ROUNDED = 0.99

/** The problem for an SVG whose sides librsvg cannot draw, by the message of libvips; undefined for any other error. */
export function svgSizeProblem(message: string, cause: unknown): Problem | undefined {
  if (/Input SVG image (will )?exceed/.test(message)) {
    const expected =
      'expected an SVG of at most 32767 px a side but this one is larger: request a size, or shorten its sides'
    return notTransformable(expected, cause)
  }
  return /svgload\w*: (zero-sized image|bad dimensions)/.test(message) ? unusableSize(cause) : undefined
}

/**
 * Checks the size in an SVG's header. In libvips, a side above 10^8 overflows and becomes 1 pixel. So the header of
 * an SVG of 1 pixel is read again at a higher density.
 *
 * @throws Problem 422 for a size that cannot be drawn
 */
export async function checkSvgSize(bytes: Buffer, { width, height }: Size): Promise<void> {
  if (width > 1 && height > 1) return
  const look = sharp(bytes, { density: CLOSE_DENSITY, limitInputPixels: false }).metadata()
  const close = await look.catch((cause) => {
    throw unusableSize(cause)
  })
  const overflows = (side: number, closeSide: number) => side === 1 && closeSide < MIN_CLOSE_SIDE
  if (overflows(width, close.width) || overflows(height, close.height)) throw unusableSize()
}

const USUAL_DENSITY = 72

/** The density that reduces an SVG to the pixel limit; undefined for an SVG within the limit. */
export function densityWithin(
  { width, height }: Size,
  { sourceMaxPixels }: { sourceMaxPixels: number },
): number | undefined {
  const scale = Math.sqrt((ROUNDED * sourceMaxPixels) / (width * height))
  // sharp accepts no density below 1.
  return scale < 1 && scale * USUAL_DENSITY >= 1 ? scale * USUAL_DENSITY : undefined
}

function unusableSize(cause?: unknown): Problem {
  return notTransformable(
    'expected an SVG with a width and height from 1 to 32767 px but this one has others',
    cause,
  )
}

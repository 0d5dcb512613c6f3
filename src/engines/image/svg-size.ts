import sharp from 'sharp'
import type { Size } from '../../core/geometry/box.ts'
import type { Problem } from '../../core/problem.ts'
import { notTransformable } from '../../core/transform-problems.ts'

// An SVG of one pixel has 100 at this density; the usual one is 72.
const CLOSE_DENSITY = 7200
const MIN_CLOSE_SIDE = 10
// The sides are rounded, up to half a pixel each.
const ROUNDED = 0.99

/** An SVG whose sides librsvg cannot draw, by the words of libvips; undefined for any other failure. */
export function svgSizeProblem(message: string, cause: unknown): Problem | undefined {
  if (/Input SVG image (will )?exceed/.test(message)) {
    const expected =
      'expected an SVG of at most 32767 px a side but this one is larger: request a size, or shorten its sides'
    return notTransformable(expected, cause)
  }
  return /svgload\w*: (zero-sized image|bad dimensions)/.test(message) ? unusableSize(cause) : undefined
}

/**
 * Checks the size of an SVG that its header gives. A side past 10^8 overflows in libvips, which then has 1 pixel for it:
 * an SVG that is that small is looked at from nearer.
 *
 * @throws Problem 422
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

/** The density at which an SVG of too many pixels has as many as are allowed; undefined for any other. */
export function densityWithin(
  { width, height }: Size,
  { sourceMaxPixels }: { sourceMaxPixels: number },
): number | undefined {
  const scale = Math.sqrt((ROUNDED * sourceMaxPixels) / (width * height))
  // Sharp takes none below 1.
  return scale < 1 && scale * USUAL_DENSITY >= 1 ? scale * USUAL_DENSITY : undefined
}

function unusableSize(cause?: unknown): Problem {
  return notTransformable(
    'expected an SVG with a width and height from 1 to 32767 px but this one has others',
    cause,
  )
}

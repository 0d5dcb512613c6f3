import sharp from 'sharp'
import type { Size } from '../core/geometry/box.ts'
import { notTransformable, type Problem } from '../core/problem.ts'

// An SVG of one pixel has 100 at this density; the usual one is 72.
const CLOSE_DENSITY = 7200
const MIN_CLOSE_SIDE = 10

/** An SVG whose sides librsvg cannot draw, by the words of libvips; undefined for any other failure. */
export function svgSizeProblem(message: string, cause: unknown): Problem | undefined {
  if (/Input SVG image (will )?exceed/.test(message)) {
    const expected = 'expected an SVG of at most 32767 px a side but this one is larger: ask for a size'
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

function unusableSize(cause?: unknown): Problem {
  return notTransformable(
    'expected an SVG with a width and height from 1 to 32767 px but this one has others',
    cause,
  )
}

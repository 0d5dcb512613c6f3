import { notTransformable } from '../transform-problems.ts'
import type { Size } from './box.ts'

/** The largest side that a request may ask for, in pixels. */
export const SIDE_MAX = 5000

/**
 * Rejects a step whose output would be too large.
 *
 * @param expected the beginning of the message, which names the parameters that the client may change: `w and h that
 *   make`
 * @throws Problem 422
 */
export function checkOutput(
  { width, height }: Size,
  {
    pages,
    limits,
    expected,
  }: { pages: number; limits: { outputMaxSide: number; outputMaxPixels: number }; expected: string },
): void {
  const { outputMaxSide, outputMaxPixels } = limits
  if (Math.max(width, height) > outputMaxSide) {
    throw notTransformable(
      `expected ${expected} at most ${outputMaxSide} px a side but the output would have ${width} x ${height} px. Request a smaller size.`,
    )
  }
  const pixels = width * height * pages
  if (pixels > outputMaxPixels) {
    throw notTransformable(
      `expected ${expected} at most ${outputMaxPixels} pixels over all frames but the output would have ${pixels} (${width} x ${height} px, ${pages} frames). Request a smaller size.`,
    )
  }
}

import type { Size } from './box.ts'

// Above this side sharp rejects an SVG. One pixel less, and a thousandth of the pixels less, because sides are
// rounded.
const DRAWING_MAX_SIDE = 32_766
const ROUNDED = 0.999

/** The largest scale, relative to its own size, at which an SVG may be drawn. */
export function largestDrawing(
  { width, height }: Size,
  { sourceMaxPixels }: { sourceMaxPixels: number },
): number {
  const bySide = DRAWING_MAX_SIDE / Math.max(width, height)
  return Math.min(bySide, Math.sqrt((ROUNDED * sourceMaxPixels) / (width * height)))
}

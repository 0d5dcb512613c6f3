import type { Size } from './box.ts'

// Past this side sharp draws no SVG. One less, and a thousandth of the pixels: sides are rounded.
const DRAWING_MAX_SIDE = 32_766
const ROUNDED = 0.999

/** How many times its own size an SVG may be drawn. */
export function largestDrawing(
  { width, height }: Size,
  { sourceMaxPixels }: { sourceMaxPixels: number },
): number {
  const bySide = DRAWING_MAX_SIDE / Math.max(width, height)
  return Math.min(bySide, Math.sqrt((ROUNDED * sourceMaxPixels) / (width * height)))
}

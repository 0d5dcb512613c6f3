import type { FullImage } from '../bytes/asset.ts'

/** Maximum of the longer side of a smaller copy, in pixels. */
export const COPY_SIDE = 2560

// The sides of outputs are rounded to whole pixels.
const TOLERANCE = 1.005

/** Whether a copy of this scale is large enough for an output of another scale. */
export function suffices(copyScale: number, scale: number): boolean {
  return scale <= copyScale * TOLERANCE
}

/** The scale of the smaller copy of an image: 1 for one that is not larger than copies are. */
export function scaleOfCopy({ width, height }: Pick<FullImage, 'width' | 'height'>): number {
  return Math.min(1, COPY_SIDE / Math.max(width, height))
}

import type { FullImage } from '../bytes/asset.ts'

/** Maximum of the longer side of a smaller copy, in pixels. */
export const COPY_SIDE = 2560

/** Images of fewer pixels have no smaller copies, unless the operator sets another limit. */
export const COPIES_FROM_PIXELS = 4_000_000

/** The longer sides of the smaller copies that are stored, in pixels, in ascending order. */
export const PROXY_SIDES = [720, 1440, COPY_SIDE] as const
export type ProxySide = (typeof PROXY_SIDES)[number]

/** Identifies a smaller copy of an original. */
export interface ProxyName {
  side: ProxySide
  /** The page of a document, from 1. Pages after the first have only the largest copy. */
  page: number
}

/**
 * Maximum of stored copies of pages after the first, and of compressed copies of derivatives, per original. A copy of a page has
 * 0.1 to 1 MB, and a reader pages through neighbours: the least recently used copy is evicted for a further one.
 */
export const MAX_FURTHER_COPIES = 16

// The sides of outputs are rounded to whole pixels.
const TOLERANCE = 1.005

/** Whether a copy of this scale is large enough for an output of another scale. */
export function suffices(copyScale: number, scale: number): boolean {
  return scale <= copyScale * TOLERANCE
}

/** The scale of the smaller copy of an image: 1 for one that is not larger than copies are. */
export function scaleOfCopy(
  { width, height }: Pick<FullImage, 'width' | 'height'>,
  side: number = COPY_SIDE,
): number {
  return Math.min(1, side / Math.max(width, height))
}

/** A source that smaller copies can replace. */
export interface Reducible {
  /** The source itself, as an upright image. */
  full: FullImage
  /** The least scale of a copy for these steps, relative to the source: above 0, at most 1. */
  scale: number
  /** Whether a decoder reads a small picture from it at a small part of the cost: JPEG and WebP. */
  shrinksOnLoad: boolean
  /** Whether decoding takes so long that all outputs are rendered from one copy, the first one too. */
  isSlow?: true
  /** The page of a document that is rendered, if it is not the first. */
  page?: number
}

import { type Box, isWhole, type Size } from './box.ts'

export type Fit = 'cover' | 'contain' | 'fill' | 'inside' | 'outside'

/** The parameters of a resize. */
export interface Wanted {
  /** In pixels of the output. Without both sides, nothing is scaled. */
  width?: number | undefined
  height?: number | undefined
  /** Width divided by height of the cropped part. Ignored when both sides are given. */
  ratio?: number | undefined
  /** Used when both sides are given. */
  fit: Fit
  /** Crops to a part whose sides are this many times shorter. From 1. */
  zoom: number
  /** Maximum scale, relative to the source: 1 never enlarges it. */
  maxScale: number
  /** Limit of the side that is not given, in pixels. */
  maxSide: number
  /**
   * Rounds sides to whole pixels; to the nearest by default. A whole source in its own shape is always rounded to the
   * nearest.
   */
  whole?: (side: number) => number
}

/**
 * The part of the source that is cropped, in its pixels and not rounded, and the size to which that part is resized.
 */
export interface Framing {
  taken: Size
  size: Size
  /** For `contain`: the box in which the image is centred. */
  canvas?: Size
}

export function framing(source: Size, wanted: Wanted): Framing {
  const { width, height, zoom, fit, maxScale, maxSide, whole = Math.round } = wanted
  const scaled = (size: Size, by: number, to = whole) => ({
    width: Math.max(1, to(size.width * by)),
    height: Math.max(1, to(size.height * by)),
  })
  const visible = { width: source.width / zoom, height: source.height / zoom }
  if (width === undefined || height === undefined) {
    const taken = wanted.ratio === undefined ? visible : largestOf(wanted.ratio, visible)
    const scale =
      width === undefined && height === undefined
        ? 1
        : Math.min(...scales(taken, { width: width ?? maxSide, height: height ?? maxSide }), maxScale)
    return { taken, size: scaled(taken, scale, isWhole(taken, source) ? Math.round : whole) }
  }
  const box = { width, height }
  if (fit === 'cover' || fit === 'fill') {
    const taken = fit === 'cover' ? largestOf(width / height, visible) : visible
    // An image smaller than the box gets the largest box of the same shape that it can fill.
    const shrink = Math.min(1, (taken.width * maxScale) / width, (taken.height * maxScale) / height)
    return { taken, size: scaled(box, shrink) }
  }
  const [across, down] = scales(visible, box)
  const to = isWhole(visible, source) ? Math.round : whole
  if (fit === 'outside') {
    const most = Math.min(maxScale, maxSide / visible.width, maxSide / visible.height)
    return { taken: visible, size: scaled(visible, Math.min(Math.max(across, down), most), to) }
  }
  const size = scaled(visible, Math.min(across, down, maxScale), to)
  return { taken: visible, size, ...(fit === 'contain' && !isWhole(size, box) ? { canvas: box } : {}) }
}

/**
 * Converts a crop of the source into one after the resize of the whole source. Returns the size of the resized
 * source, and the crop in it, in whole pixels.
 */
export function cutAfterResizing(part: Box, size: Size, source: Size): { whole: Size; part: Box } {
  const [across, down] = scales(part, size)
  const whole = {
    width: Math.max(size.width, Math.round(source.width * across)),
    height: Math.max(size.height, Math.round(source.height * down)),
  }
  const left = Math.min(Math.round(part.left * across), whole.width - size.width)
  const top = Math.min(Math.round(part.top * down), whole.height - size.height)
  return { whole, part: { left, top, ...size } }
}

/** Returns the crop in whole pixels of the source. */
export function cutBeforeResizing(part: Box, source: Size): Box {
  const width = Math.min(source.width, Math.max(1, Math.round(part.width)))
  const height = Math.min(source.height, Math.max(1, Math.round(part.height)))
  const left = Math.min(Math.round(part.left), source.width - width)
  const top = Math.min(Math.round(part.top), source.height - height)
  return { left, top, width, height }
}

function scales(from: Size, to: Size): [across: number, down: number] {
  return [to.width / from.width, to.height / from.height]
}

/** The largest box of this ratio within another box. */
function largestOf(ratio: number, { width, height }: Size): Size {
  return ratio * height < width ? { width: ratio * height, height } : { width, height: width / ratio }
}

import { type Box, isWhole, type Size } from './box.ts'

export type Fit = 'cover' | 'contain' | 'fill' | 'inside' | 'outside'

/** What a picture shall be resized to. */
export interface Wanted {
  /** In pixels of the outcome. With neither side, nothing is scaled. */
  width?: number | undefined
  height?: number | undefined
  /** Width to height of what is taken, where no two sides say it. */
  ratio?: number | undefined
  /** Counts with both sides. */
  fit: Fit
  /** Takes a part whose sides are so many times shorter. From 1. */
  zoom: number
  /** Times its own size that the picture may be drawn at most: 1 never enlarges it. */
  maxScale: number
  /** Of the side that is not named. */
  maxSide: number
  /** Makes sides whole, but of a whole source in its own shape. By default to the nearest, as always for that. */
  whole?: (side: number) => number
}

/** How large a part of the source is taken, in its pixels and not rounded, and what it is resized to. */
export interface Framing {
  taken: Size
  size: Size
  /** Of `contain`: the box in the middle of which it stands. */
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
    // A picture smaller than the box gets the largest box of the same shape that it fills.
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

/** The same cut, after the whole source has been resized: to what size, and what is taken of that, in whole pixels. */
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

/** The same cut in whole pixels of the source. */
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

/** The largest box of this shape within another. */
function largestOf(ratio: number, { width, height }: Size): Size {
  return ratio * height < width ? { width: ratio * height, height } : { width, height: width / ratio }
}

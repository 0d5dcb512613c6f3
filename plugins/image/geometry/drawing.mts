import type { ResizeOptions } from 'sharp'
import type { Size } from '../../../src/core/geometry/box.ts'
import type { Fit } from '../../../src/core/geometry/framing.ts'
import { EMPTY } from '../../../src/core/media/color.ts'

/**
 * Options with which sharp draws the whole of an SVG. Its own sides may not be whole numbers, and only sharp knows
 * them, so sharp's own fits preserve the aspect ratio. The exception is an SVG that the limit has made smaller than
 * the box it must cover.
 */
export function drawn(
  size: Size,
  {
    width,
    height,
    fit,
    maxSide,
  }: { width: number | undefined; height: number | undefined; fit: Fit; maxSide: number },
): ResizeOptions {
  if (width && height && (fit === 'cover' || fit === 'fill')) return { ...size, fit }
  if (fit === 'outside' && Math.max(size.width, size.height) === maxSide) return { ...size, fit: 'fill' }
  const box = { width: width ?? maxSide, height: height ?? maxSide }
  return { ...box, fit: width && height ? fit : 'inside', background: EMPTY }
}

/** The margins around a centred image, transparent. */
export function around(size: Size, canvas: Size) {
  const left = Math.floor((canvas.width - size.width) / 2)
  const top = Math.floor((canvas.height - size.height) / 2)
  return {
    left,
    top,
    right: canvas.width - size.width - left,
    bottom: canvas.height - size.height - top,
    background: EMPTY,
  }
}

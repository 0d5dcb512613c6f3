import { isDeepStrictEqual } from 'node:util'
import type { Size } from '../../../src/core/geometry/box.ts'
import { largestDrawing } from '../../../src/core/geometry/drawing.ts'
import { type Fit, framing } from '../../../src/core/geometry/framing.ts'
import { SIDE_MAX } from '../../../src/core/geometry/output-limit.ts'
import { ratioOf } from '../../../src/core/geometry/ratio.ts'
import type { TransformLimits } from '../../../src/core/plugin-api/limits.ts'

/** Parameters of the size and the part. */
export interface Framed {
  w?: number | undefined
  h?: number | undefined
  /** `crop`: as `cover`, after each side has been limited to that of the source. */
  fit: Fit | 'crop'
  dpr: number
  enlarge?: boolean | undefined
  ar?: readonly number[] | undefined
  zoom: number
}

/** How the image fits into its box, after its sides have been limited. */
export function fitOf(fit: Framed['fit']): Fit {
  return fit === 'crop' ? 'cover' : fit
}

/** The framing of these parameters, with the requested sides in pixels of the output. */
export function framed(
  { w, h, fit, dpr, enlarge, ar, zoom }: Framed,
  {
    source,
    limits,
  }: {
    source: Size & { format: string }
    limits: Pick<TransformLimits, 'outputMaxSide' | 'sourceMaxPixels'>
  },
) {
  const isVector = source.format === 'svg'
  const isLimited = fit === 'crop' && w && h && !enlarge && !isVector
  const sideOf = (side: number | undefined, whole: number) =>
    side && Math.round((isLimited ? Math.min(side, Math.max(1, Math.round(whole / zoom))) : side) * dpr)
  const [width, height] = [sideOf(w, source.width), sideOf(h, source.height)]
  const frame = framing(source, {
    width,
    height,
    ratio: ar && ratioOf(ar),
    fit: fitOf(fit),
    zoom,
    maxScale: isVector ? largestDrawing(source, limits) : enlarge ? Number.POSITIVE_INFINITY : 1,
    maxSide: limits.outputMaxSide,
    // The limits of a drawing are strict, so its sides are rounded down.
    whole: isVector ? Math.floor : Math.round,
  })
  return { width, height, ...frame }
}

/**
 * The least w and h with the same output, where a requested side is longer than that of the original: then every such request
 * leads to one derivative.
 */
export function leastSides(wanted: Framed, original: Size): Pick<Framed, 'w' | 'h'> {
  const { w, h, dpr } = wanted
  const limits = { outputMaxSide: SIDE_MAX, sourceMaxPixels: Number.POSITIVE_INFINITY }
  const context = { source: { ...original, format: '' }, limits }
  const { taken, size } = framed(wanted, context)
  const least = {
    w: w && Math.min(w, Math.ceil(size.width / dpr)),
    h: h && Math.min(h, Math.ceil(size.height / dpr)),
  }
  const other = framed({ ...wanted, ...least }, context)
  // Rounded sides may have another ratio, and so crop another part.
  return isDeepStrictEqual({ taken: other.taken, size: other.size }, { taken, size }) ? least : { w, h }
}

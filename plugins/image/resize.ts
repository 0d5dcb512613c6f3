import { isDeepStrictEqual } from 'node:util'
import type { ResizeOptions } from 'sharp'
import { boxAround, isWhole, type Size } from '../../src/core/geometry/box.ts'
import { largestDrawing } from '../../src/core/geometry/drawing.ts'
import { COMPASS_SYNONYMS, COMPASS_WORDS, requestedFocus } from '../../src/core/geometry/focus.ts'
import { cutAfterResizing, cutBeforeResizing, type Fit, framing } from '../../src/core/geometry/framing.ts'
import { checkOutput } from '../../src/core/geometry/output-limit.ts'
import { ratioOf, withRatio } from '../../src/core/geometry/ratio.ts'
import { EMPTY } from '../../src/core/media/color.ts'
import type { TransformLimits } from '../../src/core/plugin-api/limits.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'
import { focusIn } from './picture-focus.mts'

const MAX_SIDE = 5000

/**
 * Resizes, and crops to an aspect ratio or to a part. Enlarges only with `enlarge`. An SVG has no pixels of its own:
 * sharp draws it in the requested size, within the limits.
 */
export default definePlugin({
  name: 'image-resize',
  engine: 'sharp',
  phase: 'geometry',
  params: {
    w: { type: 'integer', min: 1, max: MAX_SIDE, unit: 'px', aliases: ['width'], help: 'Width.' },
    h: { type: 'integer', min: 1, max: MAX_SIDE, unit: 'px', aliases: ['height'], help: 'Height.' },
    fit: {
      type: 'enum',
      values: ['cover', 'contain', 'fill', 'inside', 'outside'],
      default: 'cover',
      help: 'Fit into a box of both w and h. cover: crops. contain: pads. fill: stretches. inside: fits within the box. outside: covers the box without cropping.',
    },
    dpr: { type: 'number', min: 1, max: 3, default: 1, help: 'Device pixel ratio: multiplies w, h and pad.' },
    enlarge: { type: 'flag', help: 'Allows an output larger than the original.' },
    ar: {
      type: 'list',
      of: 'number',
      names: ['w', 'h'],
      separator: ':',
      min: [0.001, 0.001],
      max: [MAX_SIDE, MAX_SIDE],
      help: 'Aspect ratio. With w or h it sets the other side. With neither, it crops the largest box of this ratio.',
    },
    func: {
      type: 'enum',
      values: ['auto', 'face', ...COMPASS_WORDS],
      synonyms: { ...COMPASS_SYNONYMS, attention: 'auto', smart: 'auto', faces: 'face' },
      default: 'center',
      help: 'Focus of a crop. auto: the most salient part. face: faces. Otherwise this direction. Replaces the focal point of the file.',
    },
    fx: {
      type: 'number',
      min: 0,
      max: 1,
      default: 0.5,
      help: 'Horizontal focus of a crop. 0: the left edge. 1: the right edge.',
    },
    fy: {
      type: 'number',
      min: 0,
      max: 1,
      default: 0.5,
      help: 'Vertical focus of a crop. 0: the top edge. 1: the bottom edge.',
    },
    zoom: {
      type: 'number',
      min: 1,
      max: 10,
      default: 1,
      aliases: ['z'],
      help: 'Zoom factor: crops a part with sides shorter by this factor, around the focus of func, or of fx and fy.',
    },
  },

  resolve(requested, { format, named, detects, focalPoint, sizeBelow, note }) {
    const { dpr, zoom } = requested
    let { w, h, ar } = withRatio(requested, MAX_SIDE)
    if (w === undefined && h === undefined && ar === undefined && zoom === 1) return undefined
    const scales = w !== undefined || h !== undefined
    const fit = w !== undefined && h !== undefined ? requested.fit : 'cover'
    const isVector = format.name === 'svg'
    // Larger outputs are an error, whatever the size of the original.
    const isLimited = Math.max(w ?? 0, h ?? 0) * dpr <= MAX_SIDE
    if (scales && isLimited && !isVector && !requested.enlarge && fit !== 'contain') {
      const original = sizeBelow({ width: w && Math.round(w * dpr), height: h && Math.round(h * dpr) })
      if (original) ({ w, h } = leastSides({ w, h, fit, dpr, ar, zoom }, original))
    }
    const cuts = zoom > 1 || ar !== undefined || (w !== undefined && h !== undefined && fit === 'cover')
    // The owner's focal point is a point of the whole image, which an earlier crop or trim has changed.
    const isDefault = cuts && !['func', 'fx', 'fy', 'crop', 'trim'].some((name) => named.has(name))
    const point = isDefault ? focalPoint() : undefined
    const { func, fx, fy } = requestedFocus(cuts ? (point ? { fx: point.x, fy: point.y } : requested) : {})
    const seen = func === 'face' && !detects() ? 'auto' : func
    if (seen !== func) note('func=auto for face: no plugin detects faces')
    return {
      w,
      h,
      fit,
      dpr: scales ? dpr : 1,
      enlarge: scales && !isVector ? requested.enlarge : undefined,
      ar,
      func: seen,
      fx,
      fy,
      zoom,
    }
  },

  opening: ({ w, h }) => ({ fitted: w !== undefined || h !== undefined }),
  // The whole source is held when a part of it is enlarged, or when the part must be detected.
  holds: ({ zoom, enlarge, func }) =>
    enlarge || zoom > 1 || func === 'auto' || func === 'face' ? 'source' : undefined,

  needs(params, context) {
    const { func, fx, fy, zoom, enlarge } = params
    const { source } = context
    // The content of the source decides the crop, or pixels of the source are enlarged.
    if (source.format === 'svg' || func === 'auto' || func === 'face' || zoom > 1 || enlarge) return undefined
    const { taken, size } = framed(params, context)
    if (isWhole(taken, source)) return size
    return cutAfterResizing(boxAround({ x: fx, y: fy }, taken, source), size, source).whole
  },

  async transform(image, { w, h, fit, dpr, enlarge, ar, func, fx, fy, zoom }, context) {
    const { source, limits } = context
    const longest = Math.max(w ?? 0, h ?? 0)
    if (longest * dpr > limits.outputMaxSide) {
      const expected = `a number that keeps w and h within ${limits.outputMaxSide} px`
      throw badParameter({ param: 'dpr', expected, received: `${dpr} (${longest} x ${dpr} px)` })
    }
    const isVector = source.format === 'svg'
    const { width, height, taken, size, canvas } = framed({ w, h, fit, dpr, enlarge, ar, zoom }, context)
    const outputSize = canvas ?? size
    if (outputSize.width > source.width || outputSize.height > source.height)
      checkOutput(outputSize, { pages: source.pages, limits, expected: 'w and h that result in' })
    const known = { ...source, ...size, dpr, format: isVector ? 'png' : source.format }
    const cropped = { ...known, framed: true as const }
    if (!isWhole(taken, source)) {
      const enlarges = !isVector && size.width > Math.ceil(taken.width)
      if (func === 'auto' && zoom === 1 && !enlarges && source.pages === 1)
        return { draft: image.resize({ ...size, fit: 'cover', position: 'attention' }), source: cropped }
      const focus = (await focusIn(image, taken, func, context)) ?? { x: fx, y: fy }
      const part = boxAround(focus, taken, source)
      if (enlarges) {
        // Otherwise sharp would enlarge the whole image before the crop, which could be any number of pixels.
        const { draft } = await context.settle(image)
        return {
          draft: draft.extract(cutBeforeResizing(part, source)).resize({ ...size, fit: 'fill' }),
          source: known,
        }
      }
      const cut = cutAfterResizing(part, size, source)
      image.resize({ ...cut.whole, fit: 'fill' }).extract(cut.part)
    } else if (isVector) {
      image.resize(drawn(size, { width, height, fit, maxSide: limits.outputMaxSide }))
      return { draft: image, source: { ...cropped, ...canvas } }
    } else if (!isWhole(size, source)) image.resize({ ...size, fit: 'fill' })
    if (!canvas) return { draft: image, source: isWhole(taken, source) ? known : cropped }
    return { draft: image.extend(around(size, canvas)), source: { ...cropped, ...canvas, hasAlpha: true } }
  },
})

interface Framed {
  w?: number | undefined
  h?: number | undefined
  fit: Fit
  dpr: number
  enlarge?: boolean | undefined
  ar?: readonly number[] | undefined
  zoom: number
}

/** The framing of these parameters, with the requested sides in pixels of the output. */
function framed(
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
  const [width, height] = [w && Math.round(w * dpr), h && Math.round(h * dpr)]
  const frame = framing(source, {
    width,
    height,
    ratio: ar && ratioOf(ar),
    fit,
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
function leastSides(wanted: Framed, original: Size): Pick<Framed, 'w' | 'h'> {
  const { w, h, dpr } = wanted
  const limits = { outputMaxSide: MAX_SIDE, sourceMaxPixels: Number.POSITIVE_INFINITY }
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

/**
 * Options with which sharp draws the whole of an SVG. Its own sides may not be whole numbers, and only sharp knows
 * them, so sharp's own fits preserve the aspect ratio. The exception is an SVG that the limit has made smaller than
 * the box it must cover.
 */
function drawn(
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
function around(size: Size, canvas: Size) {
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

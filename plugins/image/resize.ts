import type { Sharp } from 'sharp'
import { boxAround, isWhole, type Point, type Size } from '../../src/core/geometry/box.ts'
import {
  COMPASS,
  COMPASS_SYNONYMS,
  COMPASS_WORDS,
  type CompassWord,
  focusOfBoxes,
} from '../../src/core/geometry/focus.ts'
import { cutAfterResizing, cutBeforeResizing, framing } from '../../src/core/geometry/framing.ts'
import { checkOutput } from '../../src/core/geometry/output-limit.ts'
import { ratioOf, reducedRatio } from '../../src/core/geometry/ratio.ts'
import { definePlugin, type Opened, type TransformContext } from '../../src/core/plugin.ts'
import { badParameter } from '../../src/core/problem.ts'

const MAX_SIDE = 5000

/**
 * Resizes, and cuts to a shape or to a part. A picture is enlarged only where `enlarge` says so. An SVG has no pixels of
 * its own: sharp draws it anew for the size that it is resized to, within what the limits allow.
 */
export default definePlugin({
  name: 'image-resize',
  engine: 'sharp',
  phase: 'geometry',
  params: {
    w: { type: 'integer', min: 1, max: MAX_SIDE, unit: 'px', aliases: ['width'], help: 'Width' },
    h: { type: 'integer', min: 1, max: MAX_SIDE, unit: 'px', aliases: ['height'], help: 'Height' },
    fit: {
      type: 'enum',
      values: ['cover', 'contain', 'fill', 'inside', 'outside'],
      default: 'cover',
      help: 'With both a width and a height: cover crops, contain pads, fill stretches, inside fits within the box, outside covers it uncropped',
    },
    dpr: { type: 'number', min: 1, max: 3, default: 1, help: 'Device pixels per pixel of w, h and pad' },
    enlarge: { type: 'flag', help: 'Also makes it larger than it is' },
    ar: {
      type: 'list',
      of: 'number',
      names: ['w', 'h'],
      separator: ':',
      min: [0.001, 0.001],
      max: [MAX_SIDE, MAX_SIDE],
      help: 'Aspect ratio: gives the side that is not named; with neither, cuts the largest box of this shape',
    },
    func: {
      type: 'enum',
      values: ['auto', 'face', ...COMPASS_WORDS],
      synonyms: { ...COMPASS_SYNONYMS, attention: 'auto', smart: 'auto', faces: 'face' },
      default: 'center',
      help: 'What a cut keeps: the part that draws the eye (auto), faces, or what lies in this direction',
    },
    fx: {
      type: 'number',
      min: 0,
      max: 1,
      default: 0.5,
      help: 'What a cut keeps: 0 is the left edge, 1 the right',
    },
    fy: {
      type: 'number',
      min: 0,
      max: 1,
      default: 0.5,
      help: 'What a cut keeps: 0 is the upper edge, 1 the lower',
    },
    zoom: {
      type: 'number',
      min: 1,
      max: 10,
      default: 1,
      aliases: ['z'],
      help: 'Takes a part with sides so many times shorter, around what func, or fx and fy, say',
    },
  },

  resolve(asked, { format, detects, note }) {
    const { dpr, zoom } = asked
    const { w, h, ar } = withRatio(asked)
    if (w === undefined && h === undefined && ar === undefined && zoom === 1) return undefined
    const scales = w !== undefined || h !== undefined
    const fit = w !== undefined && h !== undefined ? asked.fit : 'cover'
    const isVector = format.name === 'svg'
    const cuts = zoom > 1 || ar !== undefined || (w !== undefined && h !== undefined && fit === 'cover')
    const { func, fx, fy } = cuts ? focusAsked(asked) : CENTER
    const seen = func === 'face' && !detects() ? 'auto' : func
    if (seen !== func) note('func=auto for face: no plugin detects faces')
    return {
      w,
      h,
      fit,
      dpr: scales ? dpr : 1,
      enlarge: scales && !isVector ? asked.enlarge : undefined,
      ar,
      func: seen,
      fx,
      fy,
      zoom,
    }
  },

  async transform(image, { w, h, fit, dpr, enlarge, ar, func, fx, fy, zoom }, context) {
    const { source, limits } = context
    const longest = Math.max(w ?? 0, h ?? 0)
    if (longest * dpr > limits.outputMaxSide) {
      const expected = `a number that keeps w and h within ${limits.outputMaxSide} px`
      throw badParameter({ param: 'dpr', expected, received: `${dpr} (${longest} x ${dpr} px)` })
    }
    const isVector = source.format === 'svg'
    const [width, height] = [w && Math.round(w * dpr), h && Math.round(h * dpr)]
    const { taken, size, canvas } = framing(source, {
      width,
      height,
      ratio: ar && ratioOf(ar),
      fit,
      zoom,
      maxScale: isVector ? largestDrawing(source, limits) : enlarge ? Number.POSITIVE_INFINITY : 1,
      maxSide: limits.outputMaxSide,
      // The limits of a drawing are hard.
      whole: isVector ? Math.floor : Math.round,
    })
    checkOutput(canvas ?? size, { pages: source.pages, limits, expected: 'w and h that make' })
    const known = { ...source, ...size, dpr, format: isVector ? 'png' : source.format }
    if (!isWhole(taken, source)) {
      const enlarges = !isVector && size.width > taken.width
      if (func === 'auto' && zoom === 1 && !enlarges && source.pages === 1)
        return { draft: image.resize({ ...size, fit: 'cover', position: 'attention' }), source: known }
      const focus = (await focusIn(image, taken, func, context)) ?? { x: fx, y: fy }
      const part = boxAround(focus, taken, source)
      if (enlarges) {
        // Else sharp would hold all of a picture of which but a part is asked for: enlarged, that is any number of pixels.
        const { draft } = await context.settle(image)
        return {
          draft: draft.extract(cutBeforeResizing(part, source)).resize({ ...size, fit: 'fill' }),
          source: known,
        }
      }
      const cut = cutAfterResizing(part, size, source)
      image.resize({ ...cut.whole, fit: 'fill' }).extract(cut.part)
    } else if (isVector) {
      // Its sides may be no whole numbers, of which only sharp knows: its own fits keep its shape.
      const fits = width && height ? fit : 'inside'
      const side = limits.outputMaxSide
      const box =
        fits === 'inside' || fits === 'contain' ? { width: width ?? side, height: height ?? side } : size
      return {
        draft: image.resize({ ...box, fit: fits, background: NOTHING }),
        source: { ...known, ...canvas },
      }
    } else if (!isWhole(size, source)) image.resize({ ...size, fit: 'fill' })
    if (!canvas) return { draft: image, source: known }
    return { draft: image.extend(around(size, canvas)), source: { ...known, ...canvas, hasAlpha: true } }
  },
})

/** With an aspect ratio and one side: both sides, which are all that it means. */
function withRatio({ w, h, ar }: Sides): Sides {
  if (ar === undefined || (w !== undefined && h !== undefined)) return { w, h, ar: undefined }
  if (w === undefined && h === undefined) return { w, h, ar: reducedRatio(ar) }
  const ratio = ratioOf(ar)
  const sides = {
    w: w ?? Math.round(Number(h) * ratio),
    h: h ?? Math.round(Number(w) / ratio),
    ar: undefined,
  }
  if (Math.min(sides.w, sides.h) >= 1 && Math.max(sides.w, sides.h) <= MAX_SIDE) return sides
  const expected = `a ratio that keeps w and h from 1 to ${MAX_SIDE} px`
  throw badParameter({ param: 'ar', expected, received: `${ar.join(':')} (${sides.w} x ${sides.h} px)` })
}

interface Sides {
  w: number | undefined
  h: number | undefined
  ar: readonly number[] | undefined
}

const CENTER = { func: 'center', fx: 0.5, fy: 0.5 } as const

/** A point says more than a word; a direction is a point. */
function focusAsked({ func, fx, fy }: { func: Func; fx: number; fy: number }) {
  if (fx !== CENTER.fx || fy !== CENTER.fy) return { func: CENTER.func, fx, fy }
  if (func === 'auto' || func === 'face') return { func, fx, fy }
  const { x, y } = COMPASS[func]
  return { func: CENTER.func, fx: x, fy: y }
}

type Func = 'auto' | 'face' | CompassWord

/** What a cut of this size keeps, where the picture itself has to tell; undefined where it need not. */
async function focusIn(
  draft: Sharp,
  cut: Size,
  func: Func,
  { source, frames, detect }: TransformContext<'sharp'>,
): Promise<Point | undefined> {
  if (func !== 'auto' && func !== 'face') return undefined
  // Of an animation, what its first frame shows.
  const [still] = source.pages > 1 ? await frames(draft) : [{ draft, source }]
  if (!still) return undefined
  const boxes = func === 'face' && detect ? await detect(still) : []
  const seen = focusOfBoxes(boxes, cut, source)
  if (seen) return seen
  const inside = { width: LOOKED_AT, height: LOOKED_AT, fit: 'inside', withoutEnlargement: true } as const
  const [small] = await frames(still.draft.clone().resize(inside))
  return small && attention(small, cut, source)
}

// libvips looks at 32 x 32 pixels; these tell it apart to a third of a percent.
const LOOKED_AT = 320

/** Where libvips would cut. */
async function attention(small: Opened<'sharp'>, cut: Size, source: Size): Promise<Point | undefined> {
  const { width, height } = small.source
  const box = {
    width: Math.max(1, Math.floor((cut.width * width) / source.width)),
    height: Math.max(1, Math.floor((cut.height * height) / source.height)),
  }
  const found = small.draft.resize({ ...box, fit: 'cover', position: 'attention', withoutReduction: true })
  const { info } = await found.raw().toBuffer({ resolveWithObject: true })
  const { attentionX: x, attentionY: y } = info
  return x === undefined || y === undefined ? undefined : { x: x / width, y: y / height }
}

// White beneath: what a format without transparency shows.
const NOTHING = { r: 255, g: 255, b: 255, alpha: 0 }

/** In the middle, on nothing. */
function around(size: Size, canvas: Size) {
  const left = Math.floor((canvas.width - size.width) / 2)
  const top = Math.floor((canvas.height - size.height) / 2)
  return {
    left,
    top,
    right: canvas.width - size.width - left,
    bottom: canvas.height - size.height - top,
    background: NOTHING,
  }
}

// Past this side sharp draws no SVG. One less, and a thousandth of the pixels: sides are rounded.
const DRAWING_MAX_SIDE = 32_766
const ROUNDED = 0.999

/** How many times its own size an SVG may be drawn. */
function largestDrawing({ width, height }: Size, { sourceMaxPixels }: { sourceMaxPixels: number }): number {
  const bySide = DRAWING_MAX_SIDE / Math.max(width, height)
  return Math.min(bySide, Math.sqrt((ROUNDED * sourceMaxPixels) / (width * height)))
}

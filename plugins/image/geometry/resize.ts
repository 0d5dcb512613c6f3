import { boxAround, isWhole } from '../../../src/core/geometry/box.ts'
import {
  COMPASS_SYNONYMS,
  COMPASS_WORDS,
  requestedFocus,
  zoomThatShows,
} from '../../../src/core/geometry/focus.ts'
import { cutAfterResizing, cutBeforeResizing } from '../../../src/core/geometry/framing.ts'
import { checkOutput, SIDE_MAX } from '../../../src/core/geometry/output-limit.ts'
import { withRatio } from '../../../src/core/geometry/ratio.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'
import { badParameter } from '../../../src/core/problem.ts'
import { noDetector } from '../faces/no-detector.mts'
import { around, drawn } from './drawing.mts'
import { fitOf, framed, leastSides } from './framed.mts'
import { boxesIn, focusIn } from './picture-focus.mts'

/**
 * Resizes, and crops to an aspect ratio or to a part. Enlarges only with `enlarge`. An SVG has no pixels of its own:
 * sharp draws it in the requested size, within the limits.
 */
export default definePlugin({
  name: 'image-resize',
  engine: 'sharp',
  phase: 'geometry',
  params: {
    w: {
      type: 'integer',
      min: 1,
      max: SIDE_MAX,
      unit: 'px',
      auto: 'width',
      aliases: ['width'],
      help: 'Width. auto: the width in the page, by client hints.',
    },
    h: { type: 'integer', min: 1, max: SIDE_MAX, unit: 'px', aliases: ['height'], help: 'Height.' },
    fit: {
      type: 'enum',
      values: ['cover', 'contain', 'fill', 'inside', 'outside', 'crop'],
      default: 'cover',
      help: 'Fit into a box of both w and h. cover: crops. contain: pads. fill: stretches. inside: fits within the box. outside: covers the box without cropping. crop: as cover, but a side longer than that of the original is shortened alone.',
    },
    dpr: {
      type: 'number',
      min: 1,
      max: 3,
      default: 1,
      auto: 'dpr',
      help: 'Device pixel ratio: multiplies w, h and pad. auto: that of the screen, by client hints.',
    },
    enlarge: { type: 'flag', help: 'Allows an output larger than the original.' },
    ar: {
      type: 'list',
      of: 'number',
      names: ['w', 'h'],
      separator: ':',
      min: [0.001, 0.001],
      max: [SIDE_MAX, SIDE_MAX],
      help: 'Aspect ratio. With w or h it sets the other side. With neither, it crops the largest box of this ratio.',
    },
    func: {
      type: 'enum',
      values: ['auto', 'face', ...COMPASS_WORDS],
      synonyms: { ...COMPASS_SYNONYMS, attention: 'auto', smart: 'auto', faces: 'face' },
      default: 'center',
      help: 'Focus of a crop. auto: the most salient part. face: faces. Otherwise this direction. Replaces the focal point of the file.',
    },
    focus_weights: {
      type: 'list',
      of: 'number',
      names: ['face', 'text', 'colour'],
      separator: ',',
      min: [0, 0, 0],
      max: [10, 10, 10],
      help: 'Weights of faces, text and saturated colours for func=auto, which is then the default: 2,1,1. A weight above 0 for faces needs a detector.',
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
      help: 'Zoom factor: crops a part with sides shorter by this factor, around the focus of func, or of fx and fy. With func=face, less when faces would be cut off.',
    },
  },

  resolve(requested, { format, named, detects, focalPoint, sizeBelow, note }) {
    const { dpr, zoom } = requested
    let { w, h, ar } = withRatio(requested, SIDE_MAX)
    if (w === undefined && h === undefined && ar === undefined && zoom === 1) return undefined
    const scales = w !== undefined || h !== undefined
    const fit = w !== undefined && h !== undefined ? requested.fit : 'cover'
    const isVector = format.name === 'svg'
    // Larger outputs are an error, whatever the size of the original.
    const isLimited = Math.max(w ?? 0, h ?? 0) * dpr <= SIDE_MAX
    if (scales && isLimited && !isVector && !requested.enlarge && fit !== 'contain') {
      const original = sizeBelow({ width: w && Math.round(w * dpr), height: h && Math.round(h * dpr) })
      if (original) ({ w, h } = leastSides({ w, h, fit, dpr, ar, zoom }, original))
    }
    const cuts =
      zoom > 1 || ar !== undefined || (w !== undefined && h !== undefined && fitOf(fit) === 'cover')
    // The owner's focal point is a point of the whole image, which an earlier crop or trim has changed.
    const isDefault =
      cuts && !['func', 'focus_weights', 'fx', 'fy', 'crop', 'trim'].some((name) => named.has(name))
    const point = isDefault ? focalPoint() : undefined
    const isWeighted = requested.focus_weights !== undefined && !named.has('func')
    const wanted = isWeighted ? ({ ...requested, func: 'auto' } as const) : requested
    const { func, fx, fy } = requestedFocus(cuts ? (point ? { fx: point.x, fy: point.y } : wanted) : {})
    const weights = func === 'auto' ? requested.focus_weights : undefined
    if (weights && weights[0] !== 0 && !detects()) throw noDetector('focus_weights for faces')
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
      focus_weights: weights,
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

  async transform(image, { w, h, fit, dpr, enlarge, ar, func, focus_weights, fx, fy, zoom }, context) {
    const { source, limits } = context
    const longest = Math.max(w ?? 0, h ?? 0)
    if (longest * dpr > limits.outputMaxSide) {
      const expected = `a number that keeps w and h within ${limits.outputMaxSide} px`
      throw badParameter({ param: 'dpr', expected, received: `${dpr} (${longest} x ${dpr} px)` })
    }
    const isVector = source.format === 'svg'
    const wanted = { w, h, fit, dpr, enlarge, ar, zoom }
    const planned = framed(wanted, context)
    const looks = (func === 'face' || focus_weights?.[0]) && !isWhole(planned.taken, source)
    const boxes = looks ? await boxesIn(image, context) : []
    const shown = zoomThatShows(func === 'face' ? boxes : [], planned.taken, zoom)
    const { width, height, taken, size, canvas } =
      shown === zoom ? planned : framed({ ...wanted, zoom: shown }, context)
    const outputSize = canvas ?? size
    if (outputSize.width > source.width || outputSize.height > source.height)
      checkOutput(outputSize, { pages: source.pages, limits, expected: 'w and h that result in' })
    const reduction = isVector ? 1 : taken.width / size.width
    const known = {
      ...source,
      ...size,
      dpr,
      reduction,
      format: isVector ? 'png' : source.format,
      ...(isWhole(taken, source) ? {} : { gainMap: undefined }),
    }
    const cropped = { ...known, framed: true as const }
    if (!isWhole(taken, source)) {
      const enlarges = !isVector && size.width > Math.ceil(taken.width)
      if (func === 'auto' && !focus_weights && zoom === 1 && !enlarges && source.pages === 1)
        return { draft: image.resize({ ...size, fit: 'cover', position: 'attention' }), source: cropped }
      const focus = (await focusIn(image, { cut: taken, func, boxes, weights: focus_weights }, context)) ?? {
        x: fx,
        y: fy,
      }
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
      image.resize(drawn(size, { width, height, fit: fitOf(fit), maxSide: limits.outputMaxSide }))
      return { draft: image, source: { ...cropped, ...canvas } }
    } else if (!isWhole(size, source)) image.resize({ ...size, fit: 'fill' })
    if (!canvas) return { draft: image, source: isWhole(taken, source) ? known : cropped }
    return { draft: image.extend(around(size, canvas)), source: { ...cropped, ...canvas, hasAlpha: true } }
  },
})

import { definePlugin } from '../../src/core/plugin.ts'
import { badParameter, notTransformable } from '../../src/core/problem.ts'

/**
 * Resizes to a width, a height or both. Never enlarges: a picture that is smaller keeps its size. An SVG has no pixels
 * of its own: sharp draws it anew for the size that it is resized to, within what the limits allow.
 */
export default definePlugin({
  name: 'image-resize',
  engine: 'sharp',
  phase: 'geometry',
  params: {
    w: { type: 'integer', min: 1, max: 5000, unit: 'px', aliases: ['width'], help: 'Width' },
    h: { type: 'integer', min: 1, max: 5000, unit: 'px', aliases: ['height'], help: 'Height' },
    fit: {
      type: 'enum',
      values: ['cover', 'contain', 'fill', 'inside', 'outside'],
      default: 'cover',
      help: 'With both a width and a height: cover crops, contain pads, fill stretches, inside fits within the box, outside covers it uncropped',
    },
    dpr: { type: 'number', min: 1, max: 3, default: 1, help: 'Device pixels per pixel of w and h' },
  },
  resolve({ w, h, fit, dpr }) {
    if (w === undefined && h === undefined) return undefined
    const box = w !== undefined && h !== undefined
    return { w, h, dpr, fit: box ? fit : 'cover' }
  },
  transform(image, { w, h, fit, dpr }, { source, limits }) {
    const longest = Math.max(w ?? 0, h ?? 0)
    if (longest * dpr > limits.outputMaxSide) {
      const expected = `a number that keeps w and h within ${limits.outputMaxSide} px`
      throw badParameter({ param: 'dpr', expected, received: `${dpr} (${longest} x ${dpr} px)` })
    }
    const width = w && Math.round(w * dpr)
    const height = h && Math.round(h * dpr)
    const isVector = source.format === 'svg'
    const withoutEnlargement = !isVector
    if (!width || !height) {
      // The side that is not named has a limit as well: a banner of 100 x 60000 px asked for by its width.
      const side = limits.outputMaxSide
      return image.resize({
        width: width ?? side,
        height: height ?? side,
        fit: 'inside',
        withoutEnlargement,
      })
    }
    if (fit === 'cover' || fit === 'fill' || (fit === 'outside' && isVector)) {
      // A picture smaller than the box gets the largest box of the same shape that it fills.
      const largest = isVector ? largestDrawing(source, limits) : 1
      const scale = Math.min(1, (largest * source.width) / width, (largest * source.height) / height)
      // An SVG's limits are hard.
      const whole = isVector ? Math.floor : Math.round
      const box = {
        width: Math.max(1, whole(width * scale)),
        height: Math.max(1, whole(height * scale)),
      }
      return image.resize({ ...box, fit })
    }
    // The only way to a picture that is larger than its source, and every frame gets the whole box.
    const pixels = width * height * source.pages
    if (fit === 'contain' && pixels > limits.outputMaxPixels) {
      throw notTransformable(
        `expected w and h that make at most ${limits.outputMaxPixels} pixels over all frames but ${width} x ${height} px of ${source.pages} frames are ${pixels}`,
      )
    }
    // White beneath: what a format without transparency shows.
    const background = { r: 255, g: 255, b: 255, alpha: 0 }
    return image.resize({ width, height, fit, background, withoutEnlargement })
  },
})

// Past this side sharp draws no SVG.
const DRAWING_MAX_SIDE = 32_767

/** How many times its own size an SVG may be drawn. */
function largestDrawing({ width, height }: Size, { sourceMaxPixels }: { sourceMaxPixels: number }): number {
  const bySide = DRAWING_MAX_SIDE / Math.max(width, height)
  return Math.min(bySide, Math.sqrt(sourceMaxPixels / (width * height)))
}

interface Size {
  width: number
  height: number
}

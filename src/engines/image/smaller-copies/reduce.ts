import type { Sharp } from 'sharp'
import { COPY_SIDE, PROXY_SIDES } from '../../../core/media/smaller-copies.ts'
import { definePlugin, type TransformPlugin } from '../../../core/plugin-api/plugin.ts'

// Of 48 megapixels of photos. Half of the proxy's size, as PNG: SSIM 0.996 compared with the original; with quality 85
// 0.995, with 93 0.9965, for 22 % more bytes and 10 % more time in each later decode.
const QUALITY = 90
// A small proxy is made of a larger one, and its few pixels show more of their compression: see docs/explanation/derivatives.md.
const QUALITY_OF_SMALL = 95
// Formats whose own compression is visible before that of the proxy is.
const LOSSY = new Set(['jpeg', 'webp', 'avif'])
// A drawing or a screenshot is smaller as PNG, and loses nothing. A photo has ten times the bytes, and decodes three times
// as slowly.
const PNG_MAX_FACTOR = 1.5
// As of the parameter page.
const MAX_PAGE = 10_000

/**
 * Renders a smaller copy of an image. No query names this step: the pipeline adds it.
 *
 * `pixels`: for renders that follow at once, as a TIFF without compression, which is read in 2 ms.
 * `proxy`: for renders at any later time. A baseline JPEG, whose decoder shrinks, is the fastest: 12 ms for a width of 320, PNG
 * takes 42 ms, WebP 80 ms. With its colours in half resolution when the original is compressed with loss: outputs have
 * at most half of its size. Both have the gain map of the image. A PNG for transparent pictures, and for those that are smaller as PNG.
 */
const plugin = definePlugin({
  name: 'reduce',
  engine: 'sharp',
  phase: 'encode',
  // The names by which the forecast estimates the memory.
  params: {
    as: { type: 'enum', values: ['pixels', 'proxy'], default: 'proxy', help: '' },
    w: { type: 'integer', min: PROXY_SIDES[0], max: COPY_SIDE, default: COPY_SIDE, help: '' },
    h: { type: 'integer', min: PROXY_SIDES[0], max: COPY_SIDE, default: COPY_SIDE, help: '' },
    f: { type: 'enum', values: ['tiff', 'jpeg'], default: 'jpeg', help: '' },
    page: { type: 'integer', min: 1, max: MAX_PAGE, help: '' },
  },
  opening: ({ page = 1 }) => ({ frames: 'first', upright: true, page, gainMap: 'keep' }),
  holds: () => 'outcome',
  needs: ({ w, h }, { source }) => {
    const scale = Math.min(1, w / source.width, h / source.height)
    return { width: source.width * scale, height: source.height * scale }
  },
  async transform(image, { as, w, h }, { source, settle, render }) {
    const small = image.resize({ width: w, height: h, fit: 'inside', withoutEnlargement: true })
    if (as === 'pixels' && !source.hasAlpha) return asPixels(small)
    const { draft, source: settled } = await settle(small)
    const hasAlpha = settled.hasAlpha && !(await isOpaque(draft))
    if (hasAlpha) return as === 'pixels' ? asPixels(draft) : asPng(draft)
    // Resizing a picture with an alpha channel takes twice as long.
    const colours = settled.hasAlpha ? draft.removeAlpha() : draft
    if (as === 'pixels') return asPixels(colours)
    const isLossy = LOSSY.has(source.format)
    const jpeg = colours.jpeg({
      quality: Math.max(w, h) < COPY_SIDE ? QUALITY_OF_SMALL : QUALITY,
      chromaSubsampling: isLossy ? '4:2:0' : '4:4:4',
      // Better Huffman tables save 3 % of the bytes, and take 50 ms.
      optimiseCoding: false,
    })
    // A PNG cannot have it.
    if (source.gainMap) return { draft: jpeg, source: { ...settled, gainMap: source.gainMap } }
    if (isLossy) return jpeg
    const png = asPng(jpeg.clone())
    const [inJpeg, inPng] = [await render(jpeg), await render(png)]
    return inPng.size <= PNG_MAX_FACTOR * inJpeg.size ? png : jpeg
  },
})

/** As any plugin: the types of its own parameters are not known to the pipeline. */
export const reduce = plugin as unknown as TransformPlugin

async function isOpaque(draft: Sharp): Promise<boolean> {
  const alpha = await draft.clone().extractChannel('alpha').raw().toBuffer()
  return alpha.equals(Buffer.alloc(alpha.length, 255))
}

function asPixels(draft: Sharp): Sharp {
  return draft.tiff({ compression: 'none' })
}

function asPng(draft: Sharp): Sharp {
  // More compression takes longer, here and in each decode.
  return draft.png({ compressionLevel: 1 })
}

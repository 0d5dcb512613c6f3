import sharp, { type Sharp } from 'sharp'
import type { Size } from '../../../src/core/geometry/box.ts'
import { definePlugin } from '../../../src/core/plugin-api/plugin.ts'

// Six megapixels take 36 ms and 3.3 ms more per px of sigma. To scale them down and up again takes 160 to 200 ms,
// whatever the sigma.
const DIRECT_MAX_SIGMA = 40
// The sigma in the small image: enough that its pixels are not visible in the large one.
const SMALL_SIGMA = 10
const MAX_SIGMA = 1000

/**
 * Gaussian blur of the image in its output size. Each frame is blurred separately: for sharp all frames are one tall
 * image, and it would mix the edges of adjacent frames.
 */
export default definePlugin({
  name: 'image-blur',
  engine: 'sharp',
  phase: 'effect',
  noOriginalFallback: true,
  params: {
    blur: {
      type: 'number',
      min: 0.3,
      max: MAX_SIGMA,
      unit: 'px',
      help: 'Sigma of a Gaussian blur, multiplied by dpr.',
    },
  },
  holds: () => 'outcome',
  needs: () => 'outcome',
  async transform(image, { blur = 0 }, { source, settle }) {
    const sigma = Math.min(blur * source.dpr, MAX_SIGMA)
    const direct = sigma <= DIRECT_MAX_SIGMA
    if (direct && source.pages === 1) {
      // Transparent pixels that were added in this pass have a colour for sharp, which the blur would mix into the image.
      const { draft } = source.framed && source.hasAlpha ? await settle(image) : { draft: image }
      return draft.blur(sigma)
    }
    return settle(image, (frame, size) => (direct ? frame.blur(sigma) : blurSmall(frame, size, sigma)))
  },
})

/** Scales down, blurs, and scales up again: with a large sigma the difference is not visible. */
async function blurSmall(image: Sharp, size: Size, sigma: number): Promise<Sharp> {
  const shrunk = (side: number) => Math.max(1, Math.round((side * SMALL_SIGMA) / sigma))
  const small = { width: shrunk(size.width), height: shrunk(size.height), fit: 'fill' } as const
  // Through a file, which preserves what pixels lose: the transparency of grey images, a profile.
  const blurred = await image.resize(small).blur(SMALL_SIGMA).png().toBuffer()
  const large = { width: size.width, height: size.height, fit: 'fill', kernel: 'cubic' } as const
  return sharp(blurred).keepIccProfile().resize(large)
}

import sharp, { type Sharp } from 'sharp'
import type { Size } from '../../src/core/geometry/box.ts'
import { definePlugin } from '../../src/core/plugin-api/plugin.ts'

// Six megapixels take 36 ms and 3.3 ms more for each px of sigma; to make them small and large again takes 160 to 200 ms,
// whatever the sigma.
const DIRECT_MAX_SIGMA = 40
// Of the small picture: enough that none of its pixels shows in the large one.
const SMALL_SIGMA = 10
const MAX_SIGMA = 1000

/**
 * Gaussian blur of the picture in the size in which it is sent. Of each frame by itself: to sharp all frames are one tall
 * picture, and it would mix the edge of one with that of the next.
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
  async transform(image, { blur = 0 }, { source, settle }) {
    const sigma = Math.min(blur * source.dpr, MAX_SIGMA)
    const direct = sigma <= DIRECT_MAX_SIGMA
    if (direct && source.pages === 1) return image.blur(sigma)
    return settle(image, (frame, size) => (direct ? frame.blur(sigma) : blurSmall(frame, size, sigma)))
  },
})

/** Makes it small, blurs that, and makes it large again: of a wide blur, nobody sees the difference. */
async function blurSmall(image: Sharp, size: Size, sigma: number): Promise<Sharp> {
  const shrunk = (side: number) => Math.max(1, Math.round((side * SMALL_SIGMA) / sigma))
  const small = { width: shrunk(size.width), height: shrunk(size.height), fit: 'fill' } as const
  // A file, since it keeps what pixels lose: the transparency of grey, a profile.
  const blurred = await image.resize(small).blur(SMALL_SIGMA).png().toBuffer()
  const large = { width: size.width, height: size.height, fit: 'fill', kernel: 'cubic' } as const
  return sharp(blurred).keepIccProfile().resize(large)
}

import { Problem } from '../../core/problem.ts'
import { formatTooSmall, notDecodable, takesTooLong } from '../../core/transform-problems.ts'
import { svgSizeProblem } from './svg-size.ts'

/** For work in which nothing but the picture can be at fault: the caller is told so, libvips's own words are logged. */
export async function decoding<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof Problem) throw cause
    const svgSize = svgSizeProblem(cause instanceof Error ? cause.message : '', cause)
    if (svgSize) throw svgSize
    throw notDecodable('expected an image that can be decoded but this one cannot', cause)
  }
}

/** For work in which picture, plugins and encoder meet. What is not known here is for the runner to find out. */
export async function rendering<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : ''
    if (/timeout/i.test(message)) throw takesTooLong('image', cause)
    const svgSize = svgSizeProblem(message, cause)
    if (svgSize) throw svgSize
    const limit = FORMAT_LIMITS.find(({ refusal }) => refusal.test(message))
    throw limit ? formatTooSmall(limit, cause) : cause
  }
}

// Longest side that an encoder takes, and how it says no. The JPEG format itself ends at 65535, libjpeg a little before.
const FORMAT_LIMITS = [
  { format: 'webp', maxSide: 16_383, refusal: /too large for the WebP format/ },
  { format: 'avif', maxSide: 16_384, refusal: /too large for the HEIF format|heifsave: image too large/ },
  { format: 'jpeg', maxSide: 65_500, refusal: /too large for the JPEG format|VipsJpeg: Maximum supported/ },
  { format: 'gif', maxSide: 65_535, refusal: /too large for the GIF format/ },
] as const

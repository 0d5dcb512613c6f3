import { Problem } from '../../core/problem.ts'
import { formatTooSmall, notDecodable, takesTooLong } from '../../core/transform-problems.ts'
import { svgSizeProblem } from './svg/size.ts'

/**
 * Runs work whose errors are always the image's fault. The client gets a 422, the message of libvips goes to the log.
 */
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

/**
 * Runs work whose errors may be the fault of image, plugins or encoder. The runner finds the cause of unknown errors.
 */
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

// The longest side of each encoder, and its error message. The limit of the JPEG format is 65535, that of libjpeg a
// little lower.
const FORMAT_LIMITS = [
  { format: 'webp', maxSide: 16_383, refusal: /too large for the WebP format/ },
  { format: 'avif', maxSide: 16_384, refusal: /too large for the HEIF format|heifsave: image too large/ },
  { format: 'jpeg', maxSide: 65_500, refusal: /too large for the JPEG format|VipsJpeg: Maximum supported/ },
  { format: 'gif', maxSide: 65_535, refusal: /too large for the GIF format/ },
] as const

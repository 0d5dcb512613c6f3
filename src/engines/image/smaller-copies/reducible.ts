import type { Asset, FullImage } from '../../../core/bytes/asset.ts'
import { isAnimated } from '../../../core/media/formats.ts'
import type { Reducible } from '../../../core/media/smaller-copies.ts'
import type { TransformLimits } from '../../../core/plugin-api/limits.ts'
import type { ForecastStep } from '../../../core/plugin-api/plugin.ts'
import type { ImageHeader } from '../header.ts'
import { hasExtraChannels } from '../pixel-limits.ts'
import { fileOf, formatName, type ImageOpening } from '../source.ts'

// These formats are written with 16 bits per channel when the source has them. Copies have eight.
const DEEP_OUTPUTS = new Set(['png', 'tiff'])

/**
 * Whether smaller copies of a source can replace it for these steps, and how small they may be. Undefined when the output
 * needs what copies do not have: frames, 16 bits per channel, extra channels, the rest of a truncated file, the pixels of
 * a crop.
 */
export function reducibleOf(
  header: ImageHeader,
  steps: readonly ForecastStep[],
  { source, output, limits }: { source: Asset; output: string; limits: TransformLimits },
): Reducible | undefined {
  const format = formatName(header.format)
  const hasFrames = isAnimated(format) && (header.pages ?? 1) > 1
  if (source.truncated || format === 'svg' || hasFrames || hasExtraChannels(header)) return undefined
  if (header.depth !== 'uchar' && DEEP_OUTPUTS.has(output)) return undefined
  const { width, height } = header.autoOrient
  const file = fileOf(header, source)
  const full = { width, height, format, file }
  // Copies are upright.
  const isTurned = (header.orientation ?? 1) > 1
  if (isTurned && !opensWith(steps, format, { upright: true })) return undefined
  const scale = leastScale(steps, { source: full, limits })
  if (scale === undefined) return undefined
  const shrinksOnLoad = (format === 'jpeg' && !header.isProgressive) || format === 'webp'
  return { full, scale, shrinksOnLoad }
}

/**
 * As {@link reducibleOf}, for an image that a decoder of our own reads: it is upright, has one frame, and 8 bits per channel.
 *
 * @param options.page the page of a document
 */
export function reducibleOfDecoded(
  full: FullImage,
  steps: readonly ForecastStep[],
  { limits, page = 1 }: { limits: TransformLimits; page?: number | undefined },
): Reducible | undefined {
  const scale = leastScale(steps, { source: full, limits })
  if (scale === undefined) return undefined
  return { full, scale, shrinksOnLoad: false, isSlow: true, ...(page > 1 ? { page } : {}) }
}

/** Whether one of the steps opens the source in this way. */
function opensWith(steps: readonly ForecastStep[], format: string, how: Partial<ImageOpening>): boolean {
  const request = { format: { name: format } } as never
  const [[name, value] = []] = Object.entries(how)
  return steps.some(({ plugin, params }) => {
    const opening = plugin.opening?.(params as never, request) as Partial<ImageOpening> | undefined
    return opening?.[name as keyof ImageOpening] === value
  })
}

function leastScale(
  steps: readonly ForecastStep[],
  context: { source: FullImage; limits: TransformLimits },
): number | undefined {
  const { source } = context
  let scale: number | undefined
  let isDrawn = false
  for (const { plugin, params } of steps) {
    const needed = plugin.needs?.(params as never, context)
    if (needed === undefined) return undefined
    if (needed === 'any') continue
    if (needed === 'outcome') {
      isDrawn = true
      continue
    }
    // An earlier step has changed pixels of the source.
    if (isDrawn) return undefined
    scale = Math.max(scale ?? 0, needed.width / source.width, needed.height / source.height)
  }
  return scale !== undefined && scale <= 1 ? scale : undefined
}

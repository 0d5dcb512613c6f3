import { accepts } from '../../../src/core/media/accept.ts'
import { IMAGE_OUTPUTS } from '../../../src/core/media/formats.ts'
import type { PlanRequest } from '../../../src/core/plugin-api/plan-request.ts'
import { badParameter } from '../../../src/core/problem.ts'
import { type OutputFormat, usualFormat } from './encoders.mts'

/** An output format, resolved: with f=auto, it is chosen among those that the client accepts, for each image. */
export type FormatName = OutputFormat | 'svg' | 'auto' | 'auto-avif' | 'auto-webp'

/**
 * The output formats in question. For a resolved `auto`, the size decides: AVIF, or the second one when AVIF would
 * take too long.
 */
export function outputsOf(
  resolved: FormatName | undefined,
  source: string,
): [OutputFormat, ...OutputFormat[]] {
  if (resolved === 'auto') return ['avif', 'webp']
  if (isAuto(resolved)) return [resolved === 'auto-avif' ? 'avif' : 'webp']
  return [usualFormat(resolved ?? source)]
}

/** The formats of which the smallest file is chosen for a small image. */
export function smallOutputs(f: FormatName, source: string): OutputFormat[] {
  const usual = usualFormat(source)
  return [...new Set([...outputsOf(f, source), ...(usual === 'tiff' ? [] : [usual])])]
}

/** Whether the format was left to the service. */
export function isAuto(f: FormatName | undefined): f is 'auto' | 'auto-avif' | 'auto-webp' {
  return f === 'auto' || f === 'auto-avif' || f === 'auto-webp'
}

/** The usual format of a source, or PNG when that has no transparency. */
export function transparentFormat(source: string): OutputFormat {
  const usual = usualFormat(source)
  return usual === 'jpeg' || usual === 'tiff' ? 'png' : usual
}

/**
 * Returns AVIF, WebP or the source's format, the first that can hold the image, otherwise PNG, which can hold any. A
 * possible animation stays one, which excludes AVIF. A lossless image is far smaller as WebP, and faster to encode.
 */
export function bestAccepted(
  { accept, format, tooSmall }: PlanRequest,
  {
    moving,
    lossless,
    isTransparent,
  }: { moving: boolean; lossless: boolean | undefined; isTransparent: boolean },
): FormatName {
  const [same] = outputsOf(isTransparent ? transparentFormat(format.name) : undefined, format.name)
  const can = (output: OutputFormat) => accepts(accept(), `image/${output}`) && !tooSmall.includes(output)
  if (!moving && !lossless && can('avif')) return can('webp') ? 'auto' : 'auto-avif'
  // Of GIFs, some are smaller than a WebP.
  const isExact = lossless || (moving && format.name !== 'gif')
  if (can('webp')) return isExact ? 'webp' : 'auto-webp'
  return tooSmall.includes(same) || (lossless && same === 'jpeg') ? 'png' : same
}

/** Returns the uploaded SVG, without any other parameter. @throws Problem 400 */
export function uploadedSvg({ format, named }: PlanRequest): 'original' {
  if (format.name !== 'svg') {
    const expected = `one of ${IMAGE_OUTPUTS.join(', ')}, auto (svg only for an SVG)`
    throw badParameter({ param: 'f', expected, received: 'svg' })
  }
  const other = [...named].find((name) => name !== 'f')
  if (other === undefined) return 'original'
  const expected = 'no other parameter with f=svg (the uploaded SVG is delivered unchanged)'
  throw badParameter({ param: other, expected, received: other })
}

import { buildUrl, type DeliverySource } from './build-url.ts'
import type { TransformParameters } from './parameters.ts'

/** The value of a `srcset` attribute: the same image in several widths. `f=auto` unless `parameters` name a format. */
export function srcset(
  src: DeliverySource,
  widths: readonly number[],
  parameters: Omit<TransformParameters, 'w' | 'width'> = {},
): string {
  const { f, format, preset } = parameters
  const isFormatOpen = f === undefined && format === undefined && preset === undefined
  return widths
    .map((w) => `${buildUrl(src, { w, ...(isFormatOpen ? { f: 'auto' } : {}), ...parameters })} ${w}w`)
    .join(', ')
}

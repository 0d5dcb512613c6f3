import { SIDE_MAX } from '../generated/limits.ts'
import { buildUrl, type DeliverySource } from './build-url.ts'
import type { TransformParameters } from './parameters.ts'

type Parameters = Omit<TransformParameters, 'w' | 'width'>

// The usual widths of windows, times their device pixels.
const WIDTHS = [320, 480, 640, 960, 1280, 1920, 2560, 3840]

/** The value of a `srcset` attribute: the same image in several widths. `f=auto` unless `parameters` name a format. */
export function srcset(src: DeliverySource, widths: readonly number[], parameters: Parameters = {}): string {
  return widths.map((w) => `${buildUrl(src, withWidth(w, parameters))} ${w}w`).join(', ')
}

/** The parameters of one width in pixels, with `f=auto` unless they name a format. */
export function withWidth(w: number, parameters: Parameters): TransformParameters {
  const { f, format, preset } = parameters
  const isFormatOpen = f === undefined && format === undefined && preset === undefined
  return { w, ...(isFormatOpen ? { f: 'auto' } : {}), ...parameters }
}

/** The widths that a browser can choose from: 1, 2 and 3 times a fixed width in CSS pixels, else those of usual windows. */
export function usualWidths(fixed: number | undefined): readonly number[] {
  if (fixed === undefined) return WIDTHS
  return [...new Set([1, 2, 3].map((density) => Math.min(SIDE_MAX, Math.round(density * fixed))))]
}

import type { PlanRequest } from '../../../src/core/plugin-api/plan-request.ts'
import type { OutputFormat } from './encoders.mts'
import { qualityOf } from './quality.mts'

/** The settings with the fewest bytes at the same look: further effort saves nothing. */
const STRONGEST = {
  webp: { effort: 6 },
  avif: { effort: 4 },
  png: { effort: 9 },
  jpeg: { mozjpeg: 1 },
} as const satisfies Partial<Record<OutputFormat, Readonly<Record<string, number>>>>

// With these settings, a quality looks better than with the usual ones (AVIF), or worse (all of mozjpeg).
const SAME_LOOK = { avif: -3, jpeg: 3 } as const

/** A larger output would take a core more than 6 s as AVIF. */
export const MOST_EFFORT_MAX_PIXELS = 2_000_000

/** Whether the encoder of this format can take more time for fewer bytes. A lossless WebP becomes no smaller. */
export function hasEffort(
  output: OutputFormat,
  { lossless = false }: { lossless?: boolean | undefined },
): boolean {
  return output in STRONGEST && !(lossless && output === 'webp')
}

/** The options with the strongest settings of the encoders, and the default qualities with which they look the same. */
export function withMostEffort(options: PlanRequest['options']): PlanRequest['options'] {
  const { encoders = {}, quality = {} } = options as Record<string, Record<string, object>>
  const settings = Object.entries(STRONGEST).map(([format, most]) => [
    format,
    { ...encoders[format], ...most },
  ])
  const { avif, jpeg } = SAME_LOOK
  return {
    ...options,
    encoders: { ...encoders, ...Object.fromEntries(settings) },
    quality: {
      ...quality,
      avif: Math.max(1, qualityOf('avif', options) + avif),
      jpeg: Math.min(100, qualityOf('jpeg', options) + jpeg),
    },
  }
}

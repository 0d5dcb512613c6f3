import type { PlanRequest } from '../../../src/core/plugin-api/plan-request.ts'
import type { OutputFormat } from './encoders.mts'
import { type FormatName, isAuto } from './output-format.mts'

// PNG and GIF have no quality.
const LOSSLESS_QUALITY = 100

/** The default quality of each format: about the same look, by docs/explanation/bytes.md. */
const DEFAULT_QUALITIES = { jpeg: 78, webp: 75, avif: 55, tiff: 78 } as const satisfies Partial<
  Record<OutputFormat, number>
>

export type WithQuality = keyof typeof DEFAULT_QUALITIES

/** Formats that have a quality. */
export const WITH_QUALITY = Object.keys(DEFAULT_QUALITIES) as readonly WithQuality[]

/** Whether files of this format have a quality. */
export function hasQuality(output: string): output is WithQuality {
  return Object.hasOwn(DEFAULT_QUALITIES, output)
}

// Qualities of the same look on photos: by the structural similarity to the uncompressed picture.
const SAME_LOOK: ReadonlyArray<{ webp: number; jpeg: number; avif: number }> = [
  { webp: 1, jpeg: 14, avif: 10 },
  { webp: 10, jpeg: 23, avif: 25 },
  { webp: 20, jpeg: 30, avif: 31 },
  { webp: 30, jpeg: 40, avif: 36 },
  { webp: 50, jpeg: 58, avif: 45 },
  { webp: 75, jpeg: 78, avif: 55 },
  { webp: 85, jpeg: 87, avif: 65 },
  { webp: 90, jpeg: 91, avif: 70 },
  { webp: 95, jpeg: 95, avif: 78 },
  { webp: 100, jpeg: 100, avif: 90 },
]

/**
 * Converts a quality to the one with which another format looks the same.
 *
 * @param quality from 1 to 100; outside of the measured range of `from`, the nearest measured one
 * @returns an integer from 1 to 100
 */
export function sameLook(quality: number, from: WithQuality, to: WithQuality): number {
  const [own, other] = [encoderOf(from), encoderOf(to)]
  if (own === other) return quality
  const above = SAME_LOOK.findIndex((point) => point[own] >= quality)
  const high = SAME_LOOK.at(above) ?? SAME_LOOK[0]
  const low = above > 0 ? SAME_LOOK[above - 1] : high
  if (!high || !low) return quality
  const range = high[own] - low[own]
  const part = range === 0 ? 1 : (quality - low[own]) / range
  return Math.round(low[other] + part * (high[other] - low[other]))
}

/** A TIFF with a quality has JPEG compression. */
function encoderOf(format: WithQuality): 'webp' | 'jpeg' | 'avif' {
  return format === 'tiff' ? 'jpeg' : format
}

/** The default qualities in words, for the help. */
export function defaultQualities(): string {
  return WITH_QUALITY.map((format) => `${DEFAULT_QUALITIES[format]} for ${format}`).join(', ')
}

/** The quality of an output with the look of this quality of WebP. */
export function asLook(q: number, output: OutputFormat): number {
  return hasQuality(output) ? sameLook(q, 'webp', output) : q
}

/** The quality of an output with the resolved parameters. */
export function qualityFor(
  output: OutputFormat,
  { f, q, options }: { f: FormatName | undefined; q: number | undefined; options: PlanRequest['options'] },
): number {
  if (q === undefined) return qualityOf(output, options)
  return isAuto(f) ? asLook(q, output) : q
}

/** Whether this is an entry of the option `quality`. */
export function isQuality([format, value]: [string, unknown]): boolean {
  return hasQuality(format) && Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100
}

/** The quality of an output without a requested one; 100 for formats that have none. */
export function qualityOf(output: OutputFormat, { quality }: PlanRequest['options']): number {
  const own = (quality as Partial<Record<OutputFormat, number>> | undefined)?.[output]
  return own ?? (hasQuality(output) ? DEFAULT_QUALITIES[output] : LOSSLESS_QUALITY)
}

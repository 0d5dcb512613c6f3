import { CSS_COLORS } from './css-colors.ts'

/** Red, green and blue from 0 to 255; alpha from 0 to 1. */
export interface Color {
  r: number
  g: number
  b: number
  alpha: number
}

/**
 * Parses a colour: 3, 4, 6 or 8 hexadecimal digits, with or without `#`, a CSS name, or `transparent`.
 *
 * @returns lower-case digits: 6 for an opaque colour, otherwise 8; {@link CLEAR} for every fully transparent colour.
 *   Undefined for any other text
 */
export function parseColor(text: string): string | undefined {
  const word = text.toLowerCase()
  if (word === 'transparent') return CLEAR
  const named = CSS_COLORS.get(word)
  if (named) return named
  const digits = /^#?([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/.exec(word)?.[1]
  if (digits === undefined) return undefined
  const full = digits.length > 4 ? digits : digits.replace(/./g, '$&$&')
  if (full.endsWith('00') && full.length === 8) return CLEAR
  return full.length === 8 && full.endsWith('ff') ? full.slice(0, 6) : full
}

/** Fully transparent, as {@link parseColor} returns it. */
export const CLEAR = '00000000'

/**
 * The colour of empty areas: transparent, with white in the colour channels, which formats without transparency show.
 */
export const EMPTY: Readonly<Color> = { r: 255, g: 255, b: 255, alpha: 0 }

/** Converts the result of {@link parseColor}. */
export function colorOf(digits: string): Color {
  const at = (i: number) => Number.parseInt(digits.slice(i, i + 2), 16)
  return { r: at(0), g: at(2), b: at(4), alpha: digits.length === 8 ? at(6) / 255 : 1 }
}

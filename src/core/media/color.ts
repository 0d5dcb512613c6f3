import { CSS_COLORS } from './css-colors.ts'

/** Red, green and blue from 0 to 255; alpha from 0 to 1. */
export interface Color {
  r: number
  g: number
  b: number
  alpha: number
}

/**
 * Reads a colour: 3, 4, 6 or 8 hexadecimal digits, with or without `#`, a name of CSS, or `transparent`.
 *
 * @returns lower-case digits, 6 of an opaque colour, else 8; all that is wholly transparent is one. Undefined for anything
 * else
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

/** Wholly transparent, as {@link parseColor} answers. */
export const CLEAR = '00000000'

/** What is left empty: transparent, and white beneath, which is what a format without transparency shows. */
export const EMPTY: Readonly<Color> = { r: 255, g: 255, b: 255, alpha: 0 }

/** Of what {@link parseColor} answers. */
export function colorOf(digits: string): Color {
  const at = (i: number) => Number.parseInt(digits.slice(i, i + 2), 16)
  return { r: at(0), g: at(2), b: at(4), alpha: digits.length === 8 ? at(6) / 255 : 1 }
}

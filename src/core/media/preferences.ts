import { acceptedEncoding, ENCODINGS, type Encoding } from './encodings.ts'

/**
 * What a browser states about itself in request headers. A plan may depend on it, and then responses have `Vary`. The
 * numbers are rounded to few steps, so that requests cannot lead to any number of derivatives.
 */
export interface Preferences {
  /** The `Accept` header. */
  accept?: string
  /** Device pixels per CSS pixel: from 1 to 4, in steps of 0.5. */
  dpr?: number
  /** The width of the image in device pixels: from 100 to 4000, in steps of 100. */
  width?: number
  /** The preferred encoding of a complete response. Absent for a request for a part of a file: parts are never compressed. */
  encoding?: Encoding
}

export type Preference = keyof Preferences

/** The client hints, by what they state. Each has a former name, which some browsers still send. */
const DPR_HINTS = ['Sec-CH-DPR', 'DPR']
const WIDTH_HINTS = ['Sec-CH-Width', 'Width']
const VIEWPORT_HINTS = ['Sec-CH-Viewport-Width', 'Viewport-Width']

const lowerCase = (names: readonly string[]) => names.map((name) => name.toLowerCase())
const DPR_FIELDS = lowerCase(DPR_HINTS)
const WIDTH_FIELDS = lowerCase(WIDTH_HINTS)
const VIEWPORT_FIELDS = lowerCase(VIEWPORT_HINTS)

/** The request headers on which each preference depends. Without the width of the image, that of the viewport is used. */
const HEADERS: Readonly<Record<Preference, readonly string[]>> = {
  accept: ['Accept'],
  dpr: DPR_HINTS,
  width: [...WIDTH_HINTS, ...VIEWPORT_HINTS, ...DPR_HINTS],
  encoding: ['Accept-Encoding'],
}

// Screens have at most 4 device pixels per CSS pixel. A wider image than 4000 pixels is requested with a number.
const DPR = { step: 0.5, min: 1, max: 4 }
const WIDTH = { step: 100, min: 100, max: 4000 }

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Reads the preferences of a request. An invalid hint is ignored, like one that is absent.
 *
 * @param headers by name in lower case
 * @see https://wicg.github.io/responsive-image-client-hints/
 */
export function preferencesOf(headers: Headers): Preferences {
  const { accept } = headers
  const ratio = hintIn(headers, DPR_FIELDS)
  const dpr = ratio && stepOf(ratio, DPR)
  const viewport = hintIn(headers, VIEWPORT_FIELDS)
  const pixels = hintIn(headers, WIDTH_FIELDS) ?? (viewport && viewport * (dpr ?? 1))
  const width = pixels && stepOf(pixels, WIDTH)
  const preferences: Preferences = {}
  if (typeof accept === 'string' && accept !== '') preferences.accept = accept
  if (dpr !== undefined) preferences.dpr = dpr
  if (width !== undefined) preferences.width = width
  const encoding = headers.range === undefined ? encodingIn(headers['accept-encoding']) : undefined
  if (encoding !== undefined) preferences.encoding = encoding
  return preferences
}

/** The preferences with these names. */
export function onlyPreferences(all: Preferences, names: readonly Preference[]): Preferences {
  return Object.fromEntries(names.flatMap((name) => (name in all ? [[name, all[name]]] : [])))
}

/** The request headers on which these preferences depend, for `Vary`. */
export function headersOf(names: readonly Preference[]): string[] {
  return [...new Set(names.flatMap((name) => HEADERS[name]))]
}

/** The client hints among these headers, for `Accept-CH`. */
export function hintsOf(names: readonly Preference[]): string[] {
  return headersOf(names.filter((name) => name !== 'accept' && name !== 'encoding'))
}

function encodingIn(header: Headers[string]): Encoding | undefined {
  return typeof header === 'string' ? acceptedEncoding(header, ENCODINGS) : undefined
}

/** @param fields names of headers, in lower case */
function hintIn(headers: Headers, fields: readonly string[]): number | undefined {
  for (const field of fields) {
    const received = headers[field]
    if (typeof received !== 'string' || !/^\d{1,6}(?:\.\d{1,20})?$/.test(received)) continue
    const value = Number(received)
    if (value > 0) return value
  }
  return undefined
}

/** The next larger step, so that the image is not blurred. */
function stepOf(value: number, { step, min, max }: { step: number; min: number; max: number }): number {
  // Zoomed pages send 1.0000001, which is not worth the next step.
  return Math.min(max, Math.max(min, Math.ceil(value / step - 0.01) * step))
}

import { createHmac } from 'node:crypto'
import { timingSafeEqualText } from '../bytes/timing-safe-equal.ts'
import type { MediaGroup } from '../media/groups.ts'
import { routeNotFound } from '../url-problems.ts'
import { CLOUDINARY_OPTIONS } from './cloudinary-options.ts'
import { type CompatUrl, invalidSignature, mapOptions, type OptionMapping, words } from './compat-url.ts'

const SERVICE = 'openinary'
const { w, h, ar, a, b, r, q, f, so, eo } = CLOUDINARY_OPTIONS

const FITS = words({
  fill: 'cover',
  crop: 'cover',
  fit: 'inside',
  scale: 'fill',
  pad: 'contain',
})
const GRAVITIES = ['center', 'north', 'south', 'east', 'west', 'auto', 'face']

/**
 * The options of openinary's URLs.
 *
 * @see https://docs.openinary.dev/api-reference/media/transform
 */
export const OPENINARY_OPTIONS: Readonly<Record<string, OptionMapping>> = {
  w,
  h,
  c: {
    equivalent: '`fit` with `enlarge`',
    map: (value) => {
      const fit = FITS.get(value)
      return fit === undefined ? undefined : { fit, enlarge: '1' }
    },
  },
  ar,
  a,
  g: { equivalent: '`func`', map: (value) => (GRAVITIES.includes(value) ? { func: value } : undefined) },
  b,
  bg: b,
  r,
  q,
  f,
  so,
  eo,
  t: { equivalent: '`thumbnail`', map: (value) => (value === 'true' ? { thumbnail: '1' } : undefined) },
  tt: {
    equivalent: '`duration`, in tenths of a second',
    map: (value) =>
      /^\d{1,6}(\.\d+)?$/.test(value) ? { duration: String(Math.round(Number(value) * 10)) } : undefined,
  },
}

const VIDEO = /\.(mp4|mov|webm|mkv|avi|m4v)$/i

/**
 * Reads `t/[<transformations>/]<path>` or `authenticated/s--<signature>/[<transformations>/]<path>`.
 *
 * @param segments of the path after the token, each decoded once
 * @param secret their `API_SECRET`, verifies signatures
 * @throws Problem 400 for an option without an equivalent, 403 for an invalid signature, 404 for another path
 * @see https://docs.openinary.dev/media-transformations/signed-urls
 */
export function readOpeninaryUrl(
  segments: readonly string[],
  { secret }: { secret?: string | undefined } = {},
): CompatUrl {
  const [route, ...rest] = segments
  const signature = route === 'authenticated' ? /^s--([\da-f]{16})$/.exec(rest.shift() ?? '')?.[1] : undefined
  if (route !== 't' && signature === undefined) throw routeNotFound()
  if (signature !== undefined && secret !== undefined) verify(signature, { text: rest.join('/'), secret })
  const first = rest[0] ?? ''
  const hasOptions = rest.length > 1 && isTransformation(first)
  const name = rest.slice(hasOptions ? 1 : 0).join('/')
  if (name === '') throw routeNotFound()
  const options = new Map(
    (hasOptions ? first.split(',') : []).map((part): [string, string] => {
      const at = part.indexOf('_')
      return [part.slice(0, at), part.slice(at + 1)]
    }),
  )
  const group: MediaGroup = VIDEO.test(name) ? 'video' : 'image'
  const query = mapOptions(options, {
    table: OPENINARY_OPTIONS,
    service: SERVICE,
    text: (option, value) => `${option}_${value}`,
  })
  if (group === 'image') withDefaults(options, query)
  else forVideo(options, query)
  return {
    group,
    source: { names: [{ name }] },
    query,
    isSigned: signature !== undefined && secret !== undefined,
  }
}

/** Their images fill the box, and have the best format that the caller accepts. */
function withDefaults(options: ReadonlyMap<string, string>, query: Map<string, string>): void {
  if (options.size === 0) return
  if (!options.has('c') && (options.has('w') || options.has('h'))) query.set('enlarge', '1')
  if (!options.has('f')) query.set('f', 'auto')
}

/** Their videos ignore the options of images. */
function forVideo(options: ReadonlyMap<string, string>, query: Map<string, string>): void {
  const isFrame = query.has('thumbnail')
  if (!isFrame)
    for (const name of ['fit', 'enlarge', 'func', 'ar', 'rotate', 'flip', 'flop', 'radius', 'bg', 'q'])
      query.delete(name)
  if (options.has('q') && !isFrame) query.set('q_auto', '1')
}

function isTransformation(segment: string): boolean {
  return segment
    .split(',')
    .every((part) => Object.hasOwn(OPENINARY_OPTIONS, /^([a-z]{1,2})_./.exec(part)?.[1] ?? ''))
}

function verify(signature: string, { text, secret }: { text: string; secret: string }): void {
  const expected = createHmac('sha256', secret).update(text).digest('hex').slice(0, 16)
  if (!timingSafeEqualText(signature, expected)) throw invalidSignature()
}

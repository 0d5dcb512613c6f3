import { ignored, type Mapped, mappedWord, type OptionMapping, same, words } from './compat-url.ts'
import { INTEGER, NUMBER } from './numbers.ts'

const TRUE = /^(1|t|true)$/

const FITS = words({
  fit: 'inside',
  fill: 'crop',
  'fill-down': 'cover',
  force: 'fill',
})

const GRAVITIES = words({
  no: 'north',
  so: 'south',
  ea: 'east',
  we: 'west',
  noea: 'northeast',
  nowe: 'northwest',
  soea: 'southeast',
  sowe: 'southwest',
  ce: 'center',
  sm: 'auto',
})

/** Formats by the extension of the URL. */
const FORMATS = words({
  jpg: 'jpeg',
  jpeg: 'jpeg',
  png: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
  tiff: 'tiff',
  svg: 'svg',
  best: 'auto',
})

const SIZE: OptionMapping = { equivalent: '`w`, `h`, `enlarge`', map: sizeOf }
const RESIZE: OptionMapping = { equivalent: '`fit`, `w`, `h`, `enlarge`', map: resizeOf }
const TYPE: OptionMapping = { equivalent: '`fit`', map: (value) => fitOf(value) }
const WIDTH: OptionMapping = { equivalent: '`w`', map: (value) => sideOf('w', value) }
const HEIGHT: OptionMapping = { equivalent: '`h`', map: (value) => sideOf('h', value) }
const ENLARGE: OptionMapping = { equivalent: '`enlarge`', map: (value) => flagOf('enlarge', value) }
const EXTEND: OptionMapping = { equivalent: '`fit=contain`', map: extendOf }
const GRAVITY: OptionMapping = { equivalent: '`func`, `fx` and `fy`', map: gravityOf }
const CROP: OptionMapping = { equivalent: '`crop`, for a part at an offset from the top left', map: cropOf }
const TRIM: OptionMapping = {
  equivalent: '`trim`',
  map: (value) => (NUMBER.test(value) ? { trim: value } : undefined),
}
const PADDING: OptionMapping = { equivalent: '`pad`', map: paddingOf }
const ROTATE: OptionMapping = same('rotate', INTEGER)
const BACKGROUND: OptionMapping = { equivalent: '`bg`', map: backgroundOf }
const BLUR: OptionMapping = { equivalent: '`blur`', map: (value) => unlessZero('blur', value) }
const SHARPEN: OptionMapping = {
  equivalent: '`sharpen_sigma`',
  map: (value) => unlessZero('sharpen_sigma', value),
}
const QUALITY: OptionMapping = {
  equivalent: '`q`; 0, and URLs without it: the default of imgproxy (80, WebP 79, AVIF 63)',
  map: (value) => unlessZero('q', value),
}
const MAX_BYTES: OptionMapping = { equivalent: '`maxbytes`', map: (value) => unlessZero('maxbytes', value) }
const SATURATION: OptionMapping = same('saturation', NUMBER)
const FORMAT: OptionMapping = {
  equivalent: '`f`',
  map: (value) => mappedWord('f', FORMATS.get(value)),
}
const PAGE: OptionMapping = {
  equivalent: '`page`, which counts from 1',
  map: (value) => (INTEGER.test(value) ? { page: String(Number(value) + 1) } : undefined),
}
const STILL: OptionMapping = { equivalent: '`a=0`', map: (value) => (TRUE.test(value) ? { a: '0' } : {}) }
const PROFILE: OptionMapping = {
  equivalent: '`icc`',
  map: (value) => (TRUE.test(value) ? {} : { icc: 'keep' }),
}
const PRESET: OptionMapping = same('preset', /^[\w-]+$/)
const FILE_NAME: OptionMapping = { equivalent: 'with `attachment`: `download`', map: () => ({}) }
const ATTACHMENT: OptionMapping = { equivalent: '`download`', map: attachmentOf }
const CACHE_BUSTER = ignored('it has no effect on the image')
const ROTATED = ignored('images are always rotated upright', TRUE)
const STRIPPED = ignored('metadata is always removed', TRUE)
const EXPIRES: OptionMapping = {
  equivalent: 'checked',
  map: (value) => (/^\d{1,12}$/.test(value) ? {} : undefined),
}

/**
 * The options of imgproxy's URLs: long and short names.
 *
 * @see https://docs.imgproxy.net/usage/processing
 */
export const IMGPROXY_OPTIONS: Readonly<Record<string, OptionMapping>> = {
  resize: RESIZE,
  rs: RESIZE,
  size: SIZE,
  s: SIZE,
  resizing_type: TYPE,
  rt: TYPE,
  width: WIDTH,
  w: WIDTH,
  height: HEIGHT,
  h: HEIGHT,
  dpr: same('dpr', NUMBER),
  enlarge: ENLARGE,
  el: ENLARGE,
  extend: EXTEND,
  ex: EXTEND,
  gravity: GRAVITY,
  g: GRAVITY,
  crop: CROP,
  c: CROP,
  trim: TRIM,
  t: TRIM,
  padding: PADDING,
  pd: PADDING,
  rotate: ROTATE,
  rot: ROTATE,
  background: BACKGROUND,
  bg: BACKGROUND,
  blur: BLUR,
  bl: BLUR,
  sharpen: SHARPEN,
  sh: SHARPEN,
  saturation: SATURATION,
  sa: SATURATION,
  quality: QUALITY,
  q: QUALITY,
  max_bytes: MAX_BYTES,
  mb: MAX_BYTES,
  format: FORMAT,
  f: FORMAT,
  ext: FORMAT,
  page: PAGE,
  pg: PAGE,
  disable_animation: STILL,
  da: STILL,
  strip_color_profile: PROFILE,
  scp: PROFILE,
  preset: PRESET,
  pr: PRESET,
  filename: FILE_NAME,
  fn: FILE_NAME,
  return_attachment: ATTACHMENT,
  att: ATTACHMENT,
  cachebuster: CACHE_BUSTER,
  cb: CACHE_BUSTER,
  auto_rotate: ROTATED,
  ar: ROTATED,
  strip_metadata: STRIPPED,
  sm: STRIPPED,
  expires: EXPIRES,
  exp: EXPIRES,
}

function fitOf(type: string): Mapped | undefined {
  return mappedWord('fit', FITS.get(type))
}

/** 0 or nothing: the side follows from the other one. */
function sideOf(parameter: 'w' | 'h', value: string): Mapped | undefined {
  if (value === '' || value === '0') return {}
  return INTEGER.test(value) ? { [parameter]: value } : undefined
}

function flagOf(parameter: string, value: string): Mapped | undefined {
  if (TRUE.test(value)) return { [parameter]: '1' }
  return /^(0|f|false|)$/.test(value) ? {} : undefined
}

function unlessZero(parameter: string, value: string): Mapped | undefined {
  if (!NUMBER.test(value)) return undefined
  return Number(value) === 0 ? {} : { [parameter]: value }
}

/** All of them; undefined if one has no equivalent. */
function joined(...all: Array<Mapped | undefined>): Mapped | undefined {
  const mapped: Record<string, string> = {}
  for (const one of all) {
    if (!one) return undefined
    Object.assign(mapped, one)
  }
  return mapped
}

function sizeOf(value: string): Mapped | undefined {
  const [width = '', height = '', enlarge = '', ...extend] = value.split(':')
  return joined(
    sideOf('w', width),
    sideOf('h', height),
    flagOf('enlarge', enlarge),
    extendOf(extend.join(':')),
  )
}

function resizeOf(value: string): Mapped | undefined {
  const [type = '', ...size] = value.split(':')
  const fit = type === '' ? {} : fitOf(type)
  const sized = sizeOf(size.join(':'))
  // `extend` decides last: it adds borders to what `fit` has left.
  return joined(fit, sized)
}

function extendOf(value: string): Mapped | undefined {
  const [extend = '', gravity = 'ce'] = value.split(':')
  if (!TRUE.test(extend)) return /^(0|f|false|)$/.test(extend) ? {} : undefined
  return gravity === 'ce' ? { fit: 'contain' } : undefined
}

function gravityOf(value: string): Mapped | undefined {
  const [type = '', x = '0', y = '0', ...more] = value.split(':')
  if (type === 'fp' && more.length === 0)
    return NUMBER.test(x) && NUMBER.test(y) ? { fx: x, fy: y } : undefined
  if (type === 'obj' && x === 'face') return { func: 'face' }
  return Number(x) === 0 && Number(y) === 0 ? mappedWord('func', GRAVITIES.get(type)) : undefined
}

function cropOf(value: string): Mapped | undefined {
  const [width = '', height = '', gravity = '', x = '0', y = '0'] = value.split(':')
  const isAbsolute =
    [width, height, x, y].every((one) => INTEGER.test(one)) && width !== '0' && height !== '0'
  return isAbsolute && gravity === 'nowe' ? { crop: `${x},${y},${width},${height}` } : undefined
}

function paddingOf(value: string): Mapped | undefined {
  const sides = value.split(':')
  const [top = '', right = top, bottom = top, left = right] = sides.map((side, i) =>
    side === '' && i > 0 ? undefined : side,
  )
  const all = [top, right, bottom, left].map((side) => side || '0')
  return all.every((side) => INTEGER.test(side)) && sides.length <= 4 ? { pad: all.join(',') } : undefined
}

function backgroundOf(value: string): Mapped | undefined {
  if (value === '') return {}
  if (/^[\da-f]{3}([\da-f]{3})?$/i.test(value)) return { bg: value.toLowerCase() }
  const parts = value.split(':')
  if (parts.length !== 3 || !parts.every((part) => INTEGER.test(part) && Number(part) <= 255))
    return undefined
  return { bg: parts.map((part) => Number(part).toString(16).padStart(2, '0')).join('') }
}

function attachmentOf(value: string, options: ReadonlyMap<string, string>): Mapped | undefined {
  if (!TRUE.test(value)) return {}
  const [name = '', encoded = ''] = (options.get('filename') ?? options.get('fn') ?? '').split(':')
  return { download: TRUE.test(encoded) ? Buffer.from(name, 'base64url').toString() : name }
}

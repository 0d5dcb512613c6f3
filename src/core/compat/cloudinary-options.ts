import { ignored, type Mapped, mappedWord, type OptionMapping, same, words } from './compat-url.ts'
import { INTEGER, NUMBER } from './numbers.ts'

type Options = ReadonlyMap<string, string>

// Without `enlarge`, our images never become larger than their source. Theirs do, except in the modes with "l".
const ENLARGED = { enlarge: '1' }
const CROPS = words<Mapped>({
  scale: { fit: 'fill', ...ENLARGED },
  fill: { fit: 'cover', ...ENLARGED },
  lfill: { fit: 'cover' },
  fit: { fit: 'inside', ...ENLARGED },
  limit: { fit: 'inside' },
  mfit: { fit: 'outside', ...ENLARGED },
  pad: { fit: 'contain', ...ENLARGED },
  lpad: { fit: 'contain' },
  thumb: { fit: 'cover', ...ENLARGED },
})

const GRAVITIES = words<string>({
  center: 'center',
  north: 'north',
  north_east: 'northeast',
  east: 'east',
  south_east: 'southeast',
  south: 'south',
  south_west: 'southwest',
  west: 'west',
  north_west: 'northwest',
  auto: 'auto',
  'auto:subject': 'auto',
  face: 'face',
  faces: 'face',
  'auto:face': 'face',
  'auto:faces': 'face',
})

const QUALITIES = words<Mapped>({
  auto: {},
  'auto:good': {},
  'auto:best': { q: '85' },
  'auto:eco': { q: '60' },
  'auto:low': { q: '45' },
})

/** Formats of images and videos by the word of the URL. */
export const FORMATS = words<string>({
  jpg: 'jpeg',
  jpeg: 'jpeg',
  png: 'png',
  webp: 'webp',
  avif: 'avif',
  gif: 'gif',
  tif: 'tiff',
  tiff: 'tiff',
  mp4: 'mp4',
  mov: 'mov',
  webm: 'webm',
  mp3: 'mp3',
  m4a: 'm4a',
  ogg: 'ogg',
  wav: 'wav',
  flac: 'flac',
})

const factor = (parameter: string): OptionMapping['map'] => {
  return (value) =>
    /^-?\d{1,2}$|^100$/.test(value) ? { [parameter]: String(1 + Number(value) / 100) } : undefined
}

/** Effects, `e_<name>:<value>`. */
const EFFECTS = words<OptionMapping['map']>({
  grayscale: () => ({ greyscale: '1' }),
  negate: () => ({ negate: '1' }),
  improve: () => ({ normalize_lower: '1' }),
  sharpen: (value) => (value === '' ? { sharpen: '1' } : undefined),
  trim: (value) => (value === '' || NUMBER.test(value) ? { trim: value || '10' } : undefined),
  saturation: factor('saturation'),
  brightness: factor('brightness'),
  hue: (value) => (/^\d{1,3}$/.test(value) ? { hue: value } : undefined),
})

/**
 * The options of Cloudinary's URLs, by their prefix.
 *
 * @see https://cloudinary.com/documentation/transformation_reference
 */
export const CLOUDINARY_OPTIONS = {
  w: same('w', INTEGER),
  h: same('h', INTEGER),
  c: { equivalent: '`fit`, `enlarge`, `crop`', map: cropOf },
  g: {
    equivalent: '`func`',
    map: (value) => mappedWord('func', GRAVITIES.get(value)),
  },
  x: { equivalent: 'with `c_crop`: `crop`', map: ofCrop },
  y: { equivalent: 'with `c_crop`: `crop`', map: ofCrop },
  ar: {
    equivalent: '`ar`',
    map: (value) =>
      /^[\d.]+:[\d.]+$/.test(value) ? { ar: value } : NUMBER.test(value) ? { ar: `${value}:1` } : undefined,
  },
  q: {
    equivalent: '`q`; `auto` is the default quality',
    map: (value) => QUALITIES.get(value) ?? (INTEGER.test(value) ? { q: value } : undefined),
  },
  f: {
    equivalent: '`f`',
    map: (value) => mappedWord('f', value === 'auto' ? value : FORMATS.get(value)),
  },
  dpr: {
    equivalent: '`dpr`',
    map: (value) => (value === 'auto' || NUMBER.test(value) ? { dpr: value } : undefined),
  },
  a: { equivalent: '`rotate`, `flip`, `flop`', map: angleOf },
  r: { equivalent: '`radius`', map: radiusOf },
  b: { equivalent: '`bg`', map: (value) => colourOf(value, 'bg') },
  pg: same('page', INTEGER),
  e: { equivalent: 'parameters of the effects below', map: effectOf },
  t: same('preset', /^[\w-]+$/),
  so: same('start', NUMBER),
  eo: same('end', NUMBER),
  du: {
    equivalent: 'with `so`: `end`',
    map: (value, options) =>
      NUMBER.test(value) ? { end: String(Number(options.get('so') ?? 0) + Number(value)) } : undefined,
  },
  ac: { equivalent: '`none` is `mute`', map: (value) => (value === 'none' ? { mute: '1' } : undefined) },
  vc: ignored('MP4 has H.264 here', /^(auto|h264)$/),
  fl: { equivalent: '`attachment` is `download`', map: flagsOf },
} satisfies Readonly<Record<string, OptionMapping>>

function cropOf(value: string, options: Options): Mapped | undefined {
  if (value !== 'crop') return CROPS.get(value)
  const [x, y, w, h] = ['x', 'y', 'w', 'h'].map((name) => options.get(name) ?? '')
  // Without both, the part depends on the size of the source, which a URL does not state.
  return [x, y, w, h].every((one) => INTEGER.test(one ?? '')) ? { crop: `${x},${y},${w},${h}` } : undefined
}

function ofCrop(value: string, options: Options): Mapped | undefined {
  return options.get('c') === 'crop' && INTEGER.test(value) ? {} : undefined
}

function angleOf(value: string): Mapped | undefined {
  if (value === 'hflip') return { flop: '1' }
  if (value === 'vflip') return { flip: '1' }
  if (/^auto/.test(value)) return {}
  return /^-?\d{1,3}(\.\d+)?$/.test(value) ? { rotate: value } : undefined
}

/** Their radius is in pixels, ours in percent of the sides: equal for squares only. */
function radiusOf(value: string, options: Options): Mapped | undefined {
  if (value === 'max') return { radius: '50' }
  const [w, h] = [options.get('w'), options.get('h')]
  if (!INTEGER.test(value) || w === undefined || w !== h || !INTEGER.test(w) || Number(w) === 0)
    return undefined
  return { radius: String(Math.min(50, Math.round((Number(value) / Number(w)) * 10_000) / 100)) }
}

/** `rgb:ff8800`, `#ff8800` or a CSS name, as the value of a parameter of ours. */
function colourOf(value: string, parameter: string): Mapped | undefined {
  const hex = /^(?:rgb:|#)((?:[\da-f]{3,4}){1,2})$/i.exec(value)?.[1]
  if (hex) return { [parameter]: hex }
  return /^[a-z]{3,30}$/i.test(value) && value !== 'auto' ? { [parameter]: value.toLowerCase() } : undefined
}

function effectOf(value: string, options: Options): Mapped | undefined {
  const [, name = '', amount = ''] = /^([a-z_]+)(?::(.*))?$/.exec(value) ?? []
  return EFFECTS.get(name)?.(amount, options)
}

function flagsOf(value: string): Mapped | undefined {
  let mapped: Mapped = {}
  for (const flag of value.split('.')) {
    const [, name] = /^attachment(?::(.+))?$/.exec(flag) ?? []
    if (flag.startsWith('attachment')) mapped = { download: name ?? '' }
    else if (
      !/^(progressive(:\w+)?|lossy|immutable_cache|strip_profile|force_strip|preserve_transparency)$/.test(
        flag,
      )
    )
      return undefined
  }
  return mapped
}

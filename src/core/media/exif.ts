import { UNSEEN_CHARACTER } from '../files/relative-path.ts'

/** Tags that a camera has written, by the names of the EXIF standard: `{ Make: 'Canon', FNumber: 2.8 }`. */
export type ExifTags = Readonly<Record<string, ExifValue>>
export type ExifValue = string | number | readonly number[]

/** The place where a photo was taken: degrees, north and east positive, and metres above sea level. */
export interface ExifLocation {
  latitude: number
  longitude: number
  altitude?: number | undefined
}

export interface Exif {
  tags: ExifTags
  location?: ExifLocation | undefined
}

// Limit of a string, in characters: a caption is longer than a word, but a text longer than a page is no caption.
const TEXT_MAX_LENGTH = 1000
// Limit of numbers in one tag; a lens specification has four.
const VALUES_MAX = 8
// Limit of entries in one directory: cameras write up to a hundred.
const ENTRIES_MAX = 512

const IMAGE_TAGS: TagNames = {
  270: 'ImageDescription',
  271: 'Make',
  272: 'Model',
  274: 'Orientation',
  282: 'XResolution',
  283: 'YResolution',
  296: 'ResolutionUnit',
  305: 'Software',
  306: 'DateTime',
  315: 'Artist',
  33432: 'Copyright',
}
const PHOTO_TAGS: TagNames = {
  33434: 'ExposureTime',
  33437: 'FNumber',
  34850: 'ExposureProgram',
  34855: 'ISOSpeedRatings',
  36867: 'DateTimeOriginal',
  36868: 'DateTimeDigitized',
  36880: 'OffsetTime',
  36881: 'OffsetTimeOriginal',
  36882: 'OffsetTimeDigitized',
  37377: 'ShutterSpeedValue',
  37378: 'ApertureValue',
  37379: 'BrightnessValue',
  37380: 'ExposureBiasValue',
  37381: 'MaxApertureValue',
  37382: 'SubjectDistance',
  37383: 'MeteringMode',
  37384: 'LightSource',
  37385: 'Flash',
  37386: 'FocalLength',
  40961: 'ColorSpace',
  40962: 'PixelXDimension',
  40963: 'PixelYDimension',
  41986: 'ExposureMode',
  41987: 'WhiteBalance',
  41988: 'DigitalZoomRatio',
  41989: 'FocalLengthIn35mmFilm',
  41990: 'SceneCaptureType',
  42034: 'LensSpecification',
  42035: 'LensMake',
  42036: 'LensModel',
}
const GPS_TAGS: TagNames = {
  1: 'latitudeRef',
  2: 'latitude',
  3: 'longitudeRef',
  4: 'longitude',
  5: 'altitudeRef',
  6: 'altitude',
}
const PHOTO_DIRECTORY = 34665
const GPS_DIRECTORY = 34853

type TagNames = Readonly<Record<number, string>>

/**
 * Reads an EXIF block: the tags named here, as far as they are readable. Returns undefined for a block without a
 * valid header. The work is bounded: a block of 65 KB may claim a hundred million values. Serial numbers, maker notes
 * and the thumbnail are left out.
 *
 * @param block with or without its `Exif` header
 * @see CIPA DC-008 (Exif 2.32), section 4.6
 */
export function readExif(block: Uint8Array): Exif | undefined {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength)
  const tiff = bytes.toString('latin1', 0, 6) === 'Exif\0\0' ? bytes.subarray(6) : bytes
  const order = tiff.toString('latin1', 0, 4)
  if (order !== 'II*\0' && order !== 'MM\0*') return undefined
  const reader = readerOf(tiff, { littleEndian: order === 'II*\0' })
  const links = { [PHOTO_DIRECTORY]: '', [GPS_DIRECTORY]: '' }
  const image = reader.directory(reader.u32(4) ?? 0, { ...IMAGE_TAGS, ...links })
  const sub = (tag: number, names: TagNames) => {
    const [at] = numbersOf(image.get(tag))
    return at === undefined ? new Map<number, ExifValue>() : reader.directory(at, names)
  }
  const tags = { ...named(image, IMAGE_TAGS), ...named(sub(PHOTO_DIRECTORY, PHOTO_TAGS), PHOTO_TAGS) }
  const location = locationOf(named(sub(GPS_DIRECTORY, GPS_TAGS), GPS_TAGS))
  return { tags, ...(location ? { location } : {}) }
}

type Directory = ReadonlyMap<number, ExifValue>

function readerOf(tiff: Buffer, { littleEndian }: { littleEndian: boolean }) {
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength)
  const holds = (at: number, size: number) => at >= 0 && at + size <= tiff.length
  const u16 = (at: number) => (holds(at, 2) ? view.getUint16(at, littleEndian) : undefined)
  const u32 = (at: number) => (holds(at, 4) ? view.getUint32(at, littleEndian) : undefined)
  // The size of a value in bytes and its reader, by the type number of the standard.
  const types: Readonly<Record<number, { size: number; read: (at: number) => number }>> = {
    1: { size: 1, read: (at) => view.getUint8(at) },
    3: { size: 2, read: (at) => view.getUint16(at, littleEndian) },
    4: { size: 4, read: (at) => view.getUint32(at, littleEndian) },
    5: {
      size: 8,
      read: (at) => view.getUint32(at, littleEndian) / view.getUint32(at + 4, littleEndian),
    },
    9: { size: 4, read: (at) => view.getInt32(at, littleEndian) },
    10: {
      size: 8,
      read: (at) => view.getInt32(at, littleEndian) / view.getInt32(at + 4, littleEndian),
    },
  }

  function value(entry: number): ExifValue | undefined {
    const type = u16(entry + 2)
    const count = u32(entry + 4)
    if (type === undefined || count === undefined || count === 0) return undefined
    const size = type === 2 ? 1 : types[type]?.size
    if (size === undefined) return undefined
    const at = count * size <= 4 ? entry + 8 : u32(entry + 8)
    if (at === undefined || !holds(at, count * size)) return undefined
    // UTF-8 contains the ASCII of the standard, and phones write UTF-8.
    if (type === 2) return cleanText(tiff.toString('utf8', at, at + Math.min(count, 4 * TEXT_MAX_LENGTH)))
    const one = types[type]
    if (!one || count > VALUES_MAX) return undefined
    const numbers = Array.from({ length: count }, (_, i) => one.read(at + i * size))
    if (!numbers.every(Number.isFinite)) return undefined
    return numbers.length === 1 ? numbers[0] : numbers
  }

  return {
    u32,
    /**
     * Reads the named tags of a directory; the first of equal ones. Other tags are not read: a crafted directory has
     * hundreds of them with 4 KB of text each, which would block the event loop.
     */
    directory(at: number, names: TagNames): Directory {
      const tags = new Map<number, ExifValue>()
      const count = Math.min(u16(at) ?? 0, ENTRIES_MAX)
      for (let entry = at + 2; entry < at + 2 + 12 * count && holds(entry, 12); entry += 12) {
        const tag = u16(entry) as number
        const found = tags.has(tag) || !(tag in names) ? undefined : value(entry)
        if (found !== undefined && found !== '') tags.set(tag, found)
      }
      return tags
    },
  }
}

function named(directory: Directory, names: TagNames): Record<string, ExifValue> {
  return Object.fromEntries(
    Object.entries(names).flatMap(([tag, name]) => {
      const value = directory.get(Number(tag))
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

function locationOf(gps: Record<string, ExifValue>): ExifLocation | undefined {
  const latitude = degrees(gps.latitude, { negative: gps.latitudeRef === 'S', max: 90 })
  const longitude = degrees(gps.longitude, { negative: gps.longitudeRef === 'W', max: 180 })
  if (latitude === undefined || longitude === undefined) return undefined
  const [altitude] = numbersOf(gps.altitude)
  // 1: below sea level.
  const sign = gps.altitudeRef === 1 ? -1 : 1
  return { latitude, longitude, ...(altitude === undefined ? {} : { altitude: sign * altitude }) }
}

/** Converts degrees, minutes and seconds to one number, precise to a centimetre. */
function degrees(
  value: ExifValue | undefined,
  { negative, max }: { negative: boolean; max: number },
): number | undefined {
  const [whole, minutes = 0, seconds = 0] = numbersOf(value)
  if (whole === undefined) return undefined
  const sum = Math.round((whole + minutes / 60 + seconds / 3600) * 1e7) / 1e7
  if (sum > max) return undefined
  return negative ? -sum : sum
}

function numbersOf(value: ExifValue | undefined): readonly number[] {
  if (typeof value === 'number') return [value]
  return typeof value === 'object' ? value : []
}

/** Returns the text before the first NUL, without invisible characters. */
function cleanText(text: string): string {
  const [upToEnd = ''] = text.split('\0', 1)
  const clean = upToEnd.toWellFormed().replace(new RegExp(UNSEEN_CHARACTER, 'gu'), '').trim()
  return [...clean].slice(0, TEXT_MAX_LENGTH).join('')
}

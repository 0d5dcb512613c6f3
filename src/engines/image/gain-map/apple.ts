import { byteOrder, DIRECTORY_BYTES, numberAt, readDirectory } from '../../../core/media/tiff-directory.ts'
import { FULL, unlessCut } from '../decoders/boxes.ts'
import type { Gains } from './gains.ts'
import { gainMapIn, standalone } from './heif-gain-map.ts'
import { type HeifItem, type HeifItems, readItems } from './heif-items.ts'

/** The XML namespace of gain maps of iPhones. */
export const APPLE_XMP_NAMESPACE = 'http://ns.apple.com/HDRGainMap/1.0/'
/** The start of the maker note that an iPhone writes into EXIF. Big endian numbers follow. */
export const APPLE_MAKER_NOTE = 'Apple iOS\0\0\x01MM'
// The type of the auxiliary image of a HEIC.
const APPLE_AUXILIARY_TYPE = 'urn:com:apple:photo:2020:aux:hdrgainmap'

/** What makes a gain map of an iPhone one of ISO 21496-1. */
export interface AppleGains {
  gains: Gains
  /** A lookup table for its pixels, of 256 values. An iPhone multiplies by 1 + (headroom - 1) x value, ISO 21496-1 adds stops. */
  curve: Uint8Array
}

/**
 * Returns the gains of a photo of an iPhone. Undefined when its headroom is not known, or is 1.
 *
 * @param options.xmp of the gain map; empty without one. Newer iPhones state the headroom there
 * @param options.exif of the photo, from the header of the TIFF
 * @see https://developer.apple.com/documentation/appkit/applying-apple-hdr-effect-to-your-photos
 */
export function appleGains({
  xmp,
  exif,
}: {
  xmp: string
  exif?: Buffer | undefined
}): AppleGains | undefined {
  const stated = /HDRGainMapHeadroom(?:=["']|>)([\d.]{1,20})/.exec(xmp)?.[1]
  const stops = stated !== undefined ? Math.log2(Number(stated)) : exif && unlessCut(() => stopsIn(exif))
  if (stops === undefined || !(stops >= LEAST_STOPS && stops <= MOST_STOPS)) return undefined
  const curve = Uint8Array.from({ length: 256 }, (_, value) =>
    Math.round((255 * Math.log2(1 + (2 ** stops - 1) * linear(value / 255))) / stops),
  )
  const channels = [{ min: 0, max: stops, gamma: 1, baseOffset: 0, alternateOffset: 0 }]
  return { gains: { usesBaseColours: true, baseHeadroom: 0, alternateHeadroom: stops, channels }, curve }
}

// iPhones state 1 to 3.
const LEAST_STOPS = 0.01
const MOST_STOPS = 10

/** @see ITU-R BT.709, section 1.2 */
function linear(value: number): number {
  return value < 0.081 ? value / 4.5 : ((value + 0.099) / 1.099) ** (1 / 0.45)
}

const EXIF_DIRECTORY = 0x8769
const MAKER_NOTE = 0x927c
const HEADROOM = 33
const GAIN = 48

function stopsIn(exif: Buffer): number | undefined {
  const order = byteOrder(exif)
  if (order === undefined) return undefined
  const directoryAt = (at: number) => readDirectory(exif.subarray(at, at + DIRECTORY_BYTES), { at, order })
  const pointer = directoryAt(numberAt(exif, 4, { size: 4, order })).fields.get(EXIF_DIRECTORY)
  const notes = pointer && directoryAt(numberAt(exif, pointer.at, { size: 4, order })).fields.get(MAKER_NOTE)
  if (!notes) return undefined
  const maker = exif.subarray(notes.at, notes.at + notes.count)
  if (!maker.toString('latin1', 0, APPLE_MAKER_NOTE.length).startsWith(APPLE_MAKER_NOTE)) return undefined
  const at = APPLE_MAKER_NOTE.length
  const { fields } = readDirectory(maker.subarray(at, at + DIRECTORY_BYTES), { at, order: 'be' })
  const ratioOf = (tag: number) => {
    const field = fields.get(tag)
    if (field?.size !== 8) return undefined
    return maker.readInt32BE(field.at) / maker.readUInt32BE(field.at + 4)
  }
  const [headroom, gain] = [ratioOf(HEADROOM), ratioOf(GAIN)]
  if (headroom === undefined && gain === undefined) return undefined
  return stopsOf(headroom ?? 0, gain ?? 0)
}

/** Apple's formula. */
function stopsOf(headroom: number, gain: number): number {
  if (headroom < 1) return gain <= 0.01 ? -20 * gain + 1.8 : 1.5 + 0.101 * (1 - gain)
  return gain <= 0.01 ? -70 * gain + 3 : 2 + 0.303 * (1 - gain)
}

/**
 * Returns the gain map of a HEIC as a HEIC of its own, and its gains, by ISO 21496-1 or in Apple's older form. Undefined without one,
 * and for one that cannot be used.
 */
export function gainMapOfHeic(heic: Buffer): { bytes: Buffer; gains: Gains; curve?: Uint8Array } | undefined {
  const byIso = gainMapIn(heic)
  if (byIso) return byIso
  const file = readItems(heic)
  const map = file?.items.find(({ properties }) => properties.some(statesGainMap))
  if (!file || !map) return undefined
  const gains = appleGains({ xmp: xmpOf(map, file), exif: exifIn(file) })
  const bytes = gains && standalone(file, map, heic.length)
  return bytes && { bytes, ...gains }
}

function statesGainMap({ type, content }: HeifItem['properties'][number]): boolean {
  return type === 'auxC' && content.toString('latin1', FULL).startsWith(APPLE_AUXILIARY_TYPE)
}

/** The XMP that describes an image. */
function xmpOf(image: HeifItem, { items, references }: HeifItems): string {
  const described = references.filter(({ type, to }) => type === 'cdsc' && to.includes(image.id))
  const from = new Set(described.map(({ from }) => from))
  const texts = items.filter(({ id, type }) => type === 'mime' && from.has(id))
  const xmp = texts.map(({ data }) => data()).find((data) => data?.includes(APPLE_XMP_NAMESPACE))
  return xmp?.toString('latin1') ?? ''
}

/** The EXIF block of a file, from the header of the TIFF. */
function exifIn({ items }: HeifItems): Buffer | undefined {
  const block = items.find(({ type }) => type === 'Exif')?.data()
  if (!block || block.length < 4) return undefined
  return block.subarray(4 + block.readUInt32BE(0))
}

import { unlessCut } from '../decoders/boxes.ts'

/**
 * What the pixels of a gain map mean: how they change the base image, which the file shows by default, into the alternate image.
 * Headrooms and gains are in stops: 1 is twice as bright.
 *
 * @see ISO 21496-1, section 5.2
 */
export interface Gains {
  /** The gains apply in the colour space of the base image, not in that of the alternate one. */
  usesBaseColours: boolean
  /** The headroom of the screen for which the base image is meant. 0: no HDR. */
  baseHeadroom: number
  /** The headroom of the screen for which the alternate image is meant: it shows all of the gains. */
  alternateHeadroom: number
  /** One for all channels, or one each for red, green and blue. */
  channels: Channel[]
}

export interface Channel {
  min: number
  max: number
  gamma: number
  /** Added to the base image before the gain. */
  baseOffset: number
  /** Subtracted after the gain. */
  alternateOffset: number
}

/** The XML namespace of gains in XMP. */
export const GAIN_MAP_XMP_NAMESPACE = 'http://ns.adobe.com/hdr-gain-map/1.0/'

const MULTICHANNEL = 0x80
const BASE_COLOURS = 0x40
// Of libultrahdr: all numbers have the same denominator, which is stated once.
const SHARED_DENOMINATOR = 0x08
// Of libultrahdr: the image is the HDR rendition. Its headrooms say the same.
const KNOWN_FLAGS = MULTICHANNEL | BASE_COLOURS | SHARED_DENOMINATOR | 0x04

/** Reads gains from their binary form. Undefined when it is broken, or of a later version. @see ISO 21496-1, annex C.2 */
export function gainsFromIso(bytes: Buffer): Gains | undefined {
  return unlessCut(() => {
    // The version that a reader must support at least.
    if (bytes.readUInt16BE(0) !== 0) return undefined
    const flags = bytes.readUInt8(4)
    if ((flags & ~KNOWN_FLAGS) !== 0) return undefined
    let at = 5
    const word = (isSigned = false) => {
      at += 4
      return isSigned ? bytes.readInt32BE(at - 4) : bytes.readUInt32BE(at - 4)
    }
    const denominator = flags & SHARED_DENOMINATOR ? word() : undefined
    const fraction = (isSigned = false) => word(isSigned) / (denominator ?? word())
    const [baseHeadroom, alternateHeadroom] = [fraction(), fraction()]
    const channels = Array.from({ length: flags & MULTICHANNEL ? 3 : 1 }, () => ({
      min: fraction(true),
      max: fraction(true),
      gamma: fraction(),
      baseOffset: fraction(true),
      alternateOffset: fraction(true),
    }))
    return ifValid({
      usesBaseColours: (flags & BASE_COLOURS) !== 0,
      baseHeadroom,
      alternateHeadroom,
      channels,
    })
  })
}

/** The binary form of gains. */
export function gainsToIso({ usesBaseColours, baseHeadroom, alternateHeadroom, channels }: Gains): Buffer {
  const numbers = channels.flatMap(({ min, max, gamma, baseOffset, alternateOffset }) => [
    min,
    max,
    gamma,
    baseOffset,
    alternateOffset,
  ])
  const fractions = [baseHeadroom, alternateHeadroom, ...numbers].map((value) => {
    const bytes = Buffer.alloc(8)
    bytes.writeInt32BE(Math.round(value * DENOMINATOR))
    bytes.writeUInt32BE(DENOMINATOR, 4)
    return bytes
  })
  const flags = (channels.length > 1 ? MULTICHANNEL : 0) | (usesBaseColours ? BASE_COLOURS : 0)
  return Buffer.concat([Buffer.of(0, 0, 0, 0, flags), ...fractions])
}

/** Reads gains from XMP. Undefined when it has none, or broken ones. */
export function gainsFromXmp(xmp: string): Gains | undefined {
  const prefix = new RegExp(`xmlns:([\\w-]{1,20})=["']${GAIN_MAP_XMP_NAMESPACE}["']`).exec(xmp)?.[1]
  if (prefix === undefined) return undefined
  const numbers = (name: string, usual?: number) =>
    valuesOf(xmp, `${prefix}:${name}`) ?? [usual ?? Number.NaN]
  const all = {
    min: numbers('GainMapMin', 0),
    max: numbers('GainMapMax'),
    gamma: numbers('Gamma', 1),
    sdr: numbers('OffsetSDR', OFFSET),
    hdr: numbers('OffsetHDR', OFFSET),
  }
  const length = Math.max(...Object.values(all).map((values) => values.length)) > 1 ? 3 : 1
  const isHdr = new RegExp(`${prefix}:BaseRenditionIsHDR(?:=["']|>)True`).test(xmp)
  const [base, alternate] = isHdr ? (['hdr', 'sdr'] as const) : (['sdr', 'hdr'] as const)
  const at = (name: keyof typeof all, i: number) => all[name][all[name].length > 1 ? i : 0] ?? Number.NaN
  const channels = Array.from({ length }, (_, i) => ({
    min: at('min', i),
    max: at('max', i),
    gamma: at('gamma', i),
    baseOffset: at(base, i),
    alternateOffset: at(alternate, i),
  }))
  const least = numbers('HDRCapacityMin', 0)[0] ?? Number.NaN
  const most = numbers('HDRCapacityMax')[0] ?? Number.NaN
  const [baseHeadroom, alternateHeadroom] = isHdr ? [most, least] : [least, most]
  return ifValid({ usesBaseColours: true, baseHeadroom, alternateHeadroom, channels })
}

/** Gains as the attributes and elements of an XMP description. @see https://developer.android.com/media/platform/hdr-image-format */
export function gainsToXmp({ baseHeadroom, alternateHeadroom, channels }: Gains): string {
  const isHdr = baseHeadroom > alternateHeadroom
  const listed = (name: string, of: (channel: Channel) => number) =>
    `<hdrgm:${name}><rdf:Seq>${channels.map((channel) => `<rdf:li>${written(of(channel))}</rdf:li>`).join('')}</rdf:Seq></hdrgm:${name}>`
  const values = [
    ['GainMapMin', ({ min }: Channel) => min],
    ['GainMapMax', ({ max }: Channel) => max],
    ['Gamma', ({ gamma }: Channel) => gamma],
    ['OffsetSDR', ({ baseOffset, alternateOffset }: Channel) => (isHdr ? alternateOffset : baseOffset)],
    ['OffsetHDR', ({ baseOffset, alternateOffset }: Channel) => (isHdr ? baseOffset : alternateOffset)],
  ] as const
  const attributes = [
    `xmlns:hdrgm="${GAIN_MAP_XMP_NAMESPACE}" hdrgm:Version="1.0"`,
    `hdrgm:HDRCapacityMin="${written(Math.min(baseHeadroom, alternateHeadroom))}"`,
    `hdrgm:HDRCapacityMax="${written(Math.max(baseHeadroom, alternateHeadroom))}"`,
    `hdrgm:BaseRenditionIsHDR="${isHdr ? 'True' : 'False'}"`,
  ]
  const [first] = channels
  if (channels.length > 1 || !first) {
    const elements = values.map(([name, of]) => listed(name, of)).join('')
    return `<rdf:Description ${attributes.join(' ')}>${elements}</rdf:Description>`
  }
  const single = values.map(([name, of]) => `hdrgm:${name}="${written(of(first))}"`)
  return `<rdf:Description ${[...attributes, ...single].join(' ')}/>`
}

// Numbers have six digits after the point, and at most 2,147 before it.
const DENOMINATOR = 1_000_000
const MOST = 2000
// Of XMP, when it states none.
const OFFSET = 1 / 64

function written(value: number): string {
  return String(Math.round(value * DENOMINATOR) / DENOMINATOR)
}

/** The numbers of an attribute, of an element, or of a list in an element. */
function valuesOf(xmp: string, name: string): number[] | undefined {
  const attribute = new RegExp(`\\s${name}\\s?=\\s?["']([^"'<]{1,40})["']`).exec(xmp)?.[1]
  if (attribute !== undefined) return [Number(attribute)]
  const start = xmp.indexOf(`<${name}>`)
  const end = xmp.indexOf(`</${name}>`, start)
  if (start < 0 || end < 0) return undefined
  const content = xmp.slice(start + name.length + 2, end)
  const listed = [...content.matchAll(/<rdf:li>([^<]{1,40})<\/rdf:li>/g)].map(([, value]) => Number(value))
  return listed.length > 0 ? listed : [Number(content)]
}

function ifValid(gains: Gains): Gains | undefined {
  const { baseHeadroom, alternateHeadroom, channels } = gains
  const numbers = [baseHeadroom, alternateHeadroom, ...channels.flatMap((channel) => Object.values(channel))]
  const isValid =
    numbers.every((value) => Number.isFinite(value) && Math.abs(value) <= MOST) &&
    Math.min(baseHeadroom, alternateHeadroom) >= 0 &&
    baseHeadroom !== alternateHeadroom &&
    channels.every(({ min, max, gamma }) => max >= min && Math.round(gamma * DENOMINATOR) > 0)
  return isValid ? gains : undefined
}

import type { Size } from '../../../core/geometry/box.ts'
import type { Decoder } from './decoder.ts'
import { sectionsOf } from './psd-sections.ts'
import { type PixelModel, tiffOf } from './tiff.ts'

// Of our own: it reads one row at a time, where the package `ag-psd` holds the file and all pixels in memory.
const HEADER_BYTES = 26
// Photoshop's own limit of a PSB.
const MAX_SIDE = 300_000
const RUN_LENGTHS = 1

/** The header of a PSD. */
interface PsdHeader extends Size {
  /** A PSB, for large documents: some lengths have twice the bytes. */
  isLarge: boolean
  channels: number
  bits: number
  mode: Mode
}

type Mode = 'bitmap' | 'grey' | 'palette' | 'rgb' | 'cmyk'

// By the numbers of the file. Lab and Multichannel are rare. Duotone has the grey of one ink, as Photoshop suggests.
const MODES: Readonly<Record<number, Mode>> = {
  0: 'bitmap',
  1: 'grey',
  2: 'palette',
  3: 'rgb',
  4: 'cmyk',
  8: 'grey',
}
const CHANNELS = { bitmap: 1, grey: 1, palette: 1, rgb: 3, cmyk: 4 } as const
const MODELS = { bitmap: 'grey', grey: 'grey', palette: 'rgb', rgb: 'rgb', cmyk: 'cmyk' } as const

/**
 * PSD and PSB of Photoshop: the merged image, which is stored in addition to the layers, with 8 bits per channel. Rows
 * are read one by one, so the TIFF is all that needs memory.
 *
 * @see the Adobe Photoshop File Formats Specification
 */
export const psd: Decoder = {
  library: 'Sluice',
  bytesPerPixel: 5,

  facts(head) {
    const header = headerIn(head)
    if (!header) return undefined
    const hasMore = header.channels > CHANNELS[header.mode]
    return {
      width: header.width,
      height: header.height,
      hasAlpha: hasMore && sectionsOf(head, header).hasAlpha,
    }
  },

  async decode(bytes, { check }) {
    const header = headerIn(bytes)
    if (!header) throw new Error('the header of the PSD is invalid, or its mode is not read')
    check(header)
    const { width, height, mode, bits } = header
    const { palette, profile, hasAlpha, pixelsAt } = sectionsOf(bytes, header)
    const colours = CHANNELS[mode]
    const stored = colours + (hasAlpha && header.channels > colours && mode !== 'palette' ? 1 : 0)
    const channelRow = rowsOf(bytes.subarray(pixelsAt), { header, stored })
    const model: PixelModel = MODELS[mode]
    const channels = mode === 'palette' ? 3 : stored
    const line = Buffer.alloc(width * channels)
    const row = (y: number) => {
      for (let channel = 0; channel < stored; channel += 1) {
        const values = channelRow(channel, y)
        if (mode === 'palette') colour(line, { values, palette })
        else if (bits === 1) bitsInto(line, values)
        else {
          // The first byte of two is the high one. Inks are stored as the light that remains.
          const step = bits / 8
          const ink = mode === 'cmyk' && channel < colours ? 255 : 0
          for (let x = 0; x < width; x += 1) line[x * channels + channel] = (values[x * step] ?? 0) ^ ink
        }
      }
      if (stored > colours && mode !== 'cmyk') removeWhite(line, channels)
      return line
    }
    const tiff = tiffOf({ width, height, channels, model, ...(profile ? { profile } : {}), row })
    return { bytes: tiff, mediaType: 'image/tiff' }
  },
}

function headerIn(head: Buffer): PsdHeader | undefined {
  if (head.length < HEADER_BYTES) return undefined
  const version = head.readUInt16BE(4)
  const [height, width, bits] = [head.readUInt32BE(14), head.readUInt32BE(18), head.readUInt16BE(22)]
  const mode = MODES[head.readUInt16BE(24)]
  const channels = head.readUInt16BE(12)
  if (!mode || version < 1 || version > 2 || channels < CHANNELS[mode]) return undefined
  if (Math.min(width, height) < 1 || Math.max(width, height) > MAX_SIDE) return undefined
  if (mode === 'bitmap' ? bits !== 1 : bits !== 8 && !(bits === 16 && mode !== 'palette')) return undefined
  return { width, height, channels, bits, mode, isLarge: version === 2 }
}

/**
 * Returns a function for the bytes of one row of one channel. The next call overwrites them.
 *
 * @throws Error for a compression that Photoshop does not use here, and for a file that ends too early
 */
function rowsOf(
  section: Buffer,
  { header, stored }: { header: PsdHeader; stored: number },
): (channel: number, y: number) => Uint8Array {
  const { width, height, bits, channels, isLarge } = header
  const rowBytes = Math.ceil((width * bits) / 8)
  const compression = section.readUInt16BE(0)
  const data = section.subarray(2)
  const ends = new Error('the PSD ends before its last pixel')
  if (compression === 0) {
    if (data.length < rowBytes * height * stored) throw ends
    return (channel, y) => data.subarray((channel * height + y) * rowBytes).subarray(0, rowBytes)
  }
  if (compression !== RUN_LENGTHS) throw new Error(`compression ${compression} of a PSD is not read`)
  const countBytes = isLarge ? 4 : 2
  const starts = new Float64Array(stored * height + 1)
  starts[0] = channels * height * countBytes
  for (let i = 0; i < stored * height; i += 1)
    starts[i + 1] = (starts[i] ?? 0) + data.readUIntBE(i * countBytes, countBytes)
  if ((starts[stored * height] ?? 0) > data.length) throw ends
  const values = new Uint8Array(rowBytes)
  return (channel, y) => {
    const i = channel * height + y
    unpack(data.subarray(starts[i], starts[i + 1]), values)
    return values
  }
}

/** Expands the run lengths of PackBits. A row that is too short ends with zeros. */
function unpack(packed: Buffer, values: Uint8Array): void {
  let to = 0
  for (let at = 0; at < packed.length && to < values.length; ) {
    const count = packed.readInt8(at)
    at += 1
    if (count >= 0) {
      const literal = packed.subarray(at, at + Math.min(count + 1, values.length - to))
      values.set(literal, to)
      to += literal.length
      at += count + 1
    } else if (count > -128) {
      values.fill(packed[at] ?? 0, to, to + 1 - count)
      to += 1 - count
      at += 1
    }
  }
  if (to < values.length) values.fill(0, to)
}

/** @param options.palette 256 values of red, of green and of blue */
function colour(line: Buffer, { values, palette }: { values: Uint8Array; palette: Buffer }): void {
  for (const [x, value] of values.entries())
    for (let channel = 0; channel < 3; channel += 1)
      line[x * 3 + channel] = palette[channel * 256 + value] ?? 0
}

/** One bit per pixel: 1 is black. */
function bitsInto(line: Buffer, values: Uint8Array): void {
  for (let x = 0; x < line.length; x += 1) line[x] = ((values[x >> 3] ?? 0) >> (7 - (x % 8))) & 1 ? 0 : 255
}

/** Photoshop draws the merged image on white: removes the white from pixels that are partly transparent. */
function removeWhite(line: Buffer, channels: number): void {
  for (let at = 0; at < line.length; at += channels) {
    const alpha = (line[at + channels - 1] ?? 0) / 255
    if (alpha === 0 || alpha === 1) continue
    for (let i = at; i < at + channels - 1; i += 1)
      line[i] = Math.min(255, Math.max(0, Math.round(((line[i] ?? 0) - 255 * (1 - alpha)) / alpha)))
  }
}

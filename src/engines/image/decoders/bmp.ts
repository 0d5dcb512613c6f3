import type { Size } from '../../../core/geometry/box.ts'
import type { Decoder, PictureFacts } from './decoder.ts'
import { tiffOf } from './tiff.ts'

const FILE_HEADER_BYTES = 14
const OLD_HEADER_BYTES = 12
const HEADER_BYTES = 40
// Compressions: none, and none with the bits of each channel. Run lengths and embedded files are rare.
const NONE = 0
const BIT_FIELDS = 3

/** The header of a bitmap: of a BMP file, or of an image in an ICO. */
export interface Bitmap extends Size {
  bits: number
  /** The first row is the top one. */
  isDown: boolean
  compression: number
  headerBytes: number
  /** Colours of the palette, and the bytes of each. */
  colours: number
  colourBytes: number
}

/** BMP of Windows and OS/2, without compression, with 1 to 32 bits per pixel. Any fourth channel is ignored. */
export const bmp: Decoder = {
  library: 'Sluice',
  bytesPerPixel: 4,

  facts(head): PictureFacts | undefined {
    const bitmap = bitmapIn(head.subarray(FILE_HEADER_BYTES))
    return bitmap && { width: bitmap.width, height: bitmap.height, hasAlpha: false }
  },

  async decode(bytes, { check }) {
    const dib = bytes.subarray(FILE_HEADER_BYTES)
    const bitmap = bitmapIn(dib)
    if (!bitmap) throw new Error('the header of the BMP is invalid')
    check(bitmap)
    const colourAt = coloursOf(bitmap, dib, bytes.subarray(bytes.readUInt32LE(10)))
    const { width, height } = bitmap
    const line = Buffer.alloc(width * 3)
    const row = (y: number) => {
      for (let x = 0; x < width; x += 1) line.writeUIntBE(colourAt(x, y), x * 3, 3)
      return line
    }
    return { bytes: tiffOf({ width, height, channels: 3, row }), mediaType: 'image/tiff' }
  },
}

/** Reads the header of a bitmap. Undefined for an invalid one. */
export function bitmapIn(dib: Buffer): Bitmap | undefined {
  if (dib.length < HEADER_BYTES) return undefined
  const headerBytes = dib.readUInt32LE(0)
  const isOld = headerBytes === OLD_HEADER_BYTES
  if (!isOld && headerBytes < HEADER_BYTES) return undefined
  const width = isOld ? dib.readUInt16LE(4) : dib.readInt32LE(4)
  const signed = isOld ? dib.readUInt16LE(6) : dib.readInt32LE(8)
  const bits = dib.readUInt16LE(isOld ? 10 : 14)
  if (width < 1 || signed === 0 || ![1, 4, 8, 16, 24, 32].includes(bits)) return undefined
  const named = isOld ? 0 : dib.readUInt32LE(32)
  return {
    width,
    height: Math.abs(signed),
    isDown: signed < 0,
    bits,
    compression: isOld ? NONE : dib.readUInt32LE(16),
    headerBytes,
    colours: bits > 8 ? 0 : Math.min(named || 2 ** bits, 2 ** bits),
    colourBytes: isOld ? 3 : 4,
  }
}

/**
 * Returns a function for the colour of a pixel, as 0xRRGGBB.
 *
 * @throws Error for a compressed bitmap, and for one that ends before its last pixel
 */
export function coloursOf(bitmap: Bitmap, dib: Buffer, pixels: Buffer): (x: number, y: number) => number {
  const { width, height, bits, isDown, compression, headerBytes, colours, colourBytes } = bitmap
  const hasFields = compression === BIT_FIELDS && bits >= 16
  if (compression !== NONE && !hasFields) throw new Error(`compression ${compression} of a BMP is not read`)
  // Rows end at multiples of four bytes.
  const stride = Math.ceil((width * bits) / 32) * 4
  if (pixels.length < stride * height) throw new Error('the BMP ends before its last pixel')
  const start = (y: number) => (isDown ? y : height - 1 - y) * stride
  if (bits <= 8) {
    const perByte = 8 / bits
    const mask = 2 ** bits - 1
    const palette = Array.from({ length: colours }, (_, i) =>
      dib.readUIntLE(headerBytes + i * colourBytes, 3),
    )
    return (x, y) => {
      const byte = pixels[start(y) + Math.floor(x / perByte)] ?? 0
      return palette[(byte >> (8 - bits * ((x % perByte) + 1))) & mask] ?? 0
    }
  }
  // The bytes are blue, green, red: as a number, 0xRRGGBB.
  if (bits === 24 || (bits === 32 && !hasFields)) {
    return (x, y) => pixels.readUIntLE(start(y) + (x * bits) / 8, 3)
  }
  // The masks follow the first 40 bytes of the header, also in a longer one.
  const masks = hasFields ? [0, 4, 8].map((at) => dib.readUInt32LE(HEADER_BYTES + at)) : [0x7c00, 0x3e0, 0x1f]
  const channels = masks.map((mask) => {
    const shift = 31 - Math.clz32(mask & -mask)
    return { shift, most: mask >>> shift || 1, mask }
  })
  return (x, y) => {
    const value = pixels.readUIntLE(start(y) + (x * bits) / 8, bits / 8)
    return channels.reduce(
      (colour, { mask, shift, most }) => colour * 256 + Math.round((((value & mask) >>> shift) / most) * 255),
      0,
    )
  }
}

import type { Size } from '../../../core/geometry/box.ts'
import type { Decoder, PictureFacts } from './decoder.ts'
import { tiffOf } from './tiff.ts'

// Of our own: one decoder serves BMP and ICO, and writes rows as it reads them.
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

/**
 * BMP of Windows and OS/2, without compression, with 1 to 32 bits per pixel. A fourth channel is ignored, unless the header
 * has a mask for it (versions 3 to 5).
 */
export const bmp: Decoder = {
  library: 'Sluice',
  bytesPerPixel: 4,

  facts(head): PictureFacts | undefined {
    const bitmap = bitmapIn(head.subarray(FILE_HEADER_BYTES))
    const hasAlpha = bitmap !== undefined && alphaMaskOf(bitmap, head.subarray(FILE_HEADER_BYTES)) !== 0
    return bitmap && { width: bitmap.width, height: bitmap.height, hasAlpha }
  },

  async decode(bytes, { check }) {
    const dib = bytes.subarray(FILE_HEADER_BYTES)
    const bitmap = bitmapIn(dib)
    if (!bitmap) throw new Error('the header of the BMP is invalid')
    check(bitmap)
    const pixels = bytes.subarray(bytes.readUInt32LE(10))
    const colourAt = coloursOf(bitmap, dib, pixels)
    const { width, height } = bitmap
    const alphaAt = alphaOf(bitmap, dib, pixels)
    const channels = alphaAt ? 4 : 3
    const line = Buffer.alloc(width * channels)
    const row = (y: number) => {
      for (let x = 0; x < width; x += 1) {
        line.writeUIntBE(colourAt(x, y), x * channels, 3)
        if (alphaAt) line.writeUInt8(alphaAt(x, y), x * channels + 3)
      }
      return line
    }
    return { bytes: tiffOf({ width, height, channels, row }), mediaType: 'image/tiff' }
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

/** The header of version 3, which has a mask for alpha. Later versions begin with it. */
const HEADER_WITH_ALPHA_BYTES = 56
const ALPHA_MASK_AT = 52

/** The bits of alpha in a pixel; 0 for none. */
function alphaMaskOf({ headerBytes, compression, bits }: Bitmap, dib: Buffer): number {
  const hasMask = headerBytes >= HEADER_WITH_ALPHA_BYTES && compression === BIT_FIELDS && bits === 32
  return hasMask && dib.length >= HEADER_WITH_ALPHA_BYTES ? dib.readUInt32LE(ALPHA_MASK_AT) : 0
}

/**
 * Returns a function for the alpha of a pixel, 0 to 255. Undefined for an opaque image: without a mask, and when every
 * pixel would be transparent, which some programs write for opaque ones.
 */
function alphaOf(
  bitmap: Bitmap,
  dib: Buffer,
  pixels: Buffer,
): ((x: number, y: number) => number) | undefined {
  const mask = alphaMaskOf(bitmap, dib)
  if (mask === 0) return undefined
  const { width, height, isDown } = bitmap
  const shift = 31 - Math.clz32(mask & -mask)
  const most = mask >>> shift || 1
  const at = (i: number) => Math.round((((pixels.readUInt32LE(4 * i) & mask) >>> shift) / most) * 255)
  for (let i = 0; i < width * height; i += 1)
    if (at(i) > 0) return (x, y) => at((isDown ? y : height - 1 - y) * width + x)
  return undefined
}

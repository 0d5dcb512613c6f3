import { bitmapIn, coloursOf } from './bmp.ts'
import type { Decoder } from './decoder.ts'
import { tiffOf } from './tiff.ts'

// Of our own: only the directory in front of a PNG or a bitmap has to be read.
const HEADER_BYTES = 6
const ENTRY_BYTES = 16
const PNG = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')

/** ICO: its largest image, a PNG or a bitmap with transparency. */
export const ico: Decoder = {
  library: 'Sluice',
  bytesPerPixel: 4,

  facts(head) {
    const largest = entriesIn(head)[0]
    return largest && { width: largest.width, height: largest.height, hasAlpha: true }
  },

  async decode(bytes, { check }) {
    const largest = entriesIn(bytes)[0]
    if (!largest) throw new Error('the ICO has no image')
    const image = bytes.subarray(largest.at, largest.at + largest.size)
    if (image.subarray(0, PNG.length).equals(PNG)) return { bytes: image, mediaType: 'image/png' }
    const both = bitmapIn(image)
    if (!both) throw new Error('the header of the bitmap is invalid')
    // The height counts the transparency, a bitmap of one bit that follows.
    const bitmap = { ...both, height: Math.floor(both.height / 2) }
    check(bitmap)
    const { width, height, bits, headerBytes, colours, colourBytes } = bitmap
    const pixels = image.subarray(headerBytes + colours * colourBytes)
    const colourAt = coloursOf(bitmap, image, pixels)
    const mask = pixels.subarray(Math.ceil((width * bits) / 32) * 4 * height)
    const maskStride = Math.ceil(width / 32) * 4
    const alphaAt = (x: number, y: number) => {
      const below = height - 1 - y
      if (bits === 32) return pixels[(below * width + x) * 4 + 3] ?? 0
      return ((mask[below * maskStride + (x >> 3)] ?? 0) >> (7 - (x % 8))) & 1 ? 0 : 255
    }
    const line = Buffer.alloc(width * 4)
    const row = (y: number) => {
      for (let x = 0; x < width; x += 1) {
        line.writeUIntBE(colourAt(x, y), x * 4, 3)
        line[x * 4 + 3] = alphaAt(x, y)
      }
      return line
    }
    return { bytes: tiffOf({ width, height, channels: 4, row }), mediaType: 'image/tiff' }
  },
}

/** The images of an ICO, the largest first. A side of 0 is 256. */
function entriesIn(head: Buffer) {
  const count = head.length < HEADER_BYTES ? 0 : head.readUInt16LE(4)
  const fitting = Math.min(count, Math.floor((head.length - HEADER_BYTES) / ENTRY_BYTES))
  return Array.from({ length: Math.max(0, fitting) }, (_, i) => {
    const entry = head.subarray(HEADER_BYTES + i * ENTRY_BYTES)
    return {
      width: entry.readUInt8(0) || 256,
      height: entry.readUInt8(1) || 256,
      bits: entry.readUInt16LE(6),
      size: entry.readUInt32LE(8),
      at: entry.readUInt32LE(12),
    }
  }).sort((a, b) => b.width - a.width || b.bits - a.bits)
}

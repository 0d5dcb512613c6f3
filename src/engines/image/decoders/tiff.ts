import type { Size } from '../../../core/geometry/box.ts'

/** The colours of pixels: their number, and the number of the model in a TIFF. CMYK: 255 is the most ink. */
const MODELS = {
  grey: { colours: 1, photometric: 1 },
  rgb: { colours: 3, photometric: 2 },
  cmyk: { colours: 4, photometric: 5 },
} as const

export type PixelModel = keyof typeof MODELS

/** Decoded pixels: rows of 8 bits per channel, the colours and perhaps alpha, not premultiplied. */
export interface Pixels extends Size {
  /** The number of pages of this size; 1 by default. */
  pages?: number
  /** The number of colours, and one more for alpha. */
  channels: number
  /** `rgb` by default. */
  model?: PixelModel
  /** The ICC profile of the colours; sRGB, or the usual one of the model, without it. */
  profile?: Buffer
  /** Returns the row at this height, from 0, of `width * channels` bytes. The pages follow each other. */
  row(y: number): Uint8Array
}

// libtiff reads strip by strip: at most 64 rows are in memory at once.
const ROWS_PER_STRIP = 64
const SHORT = 3
const LONG = 4
const UNDEFINED = 7
const BYTES_OF = { [SHORT]: 2, [LONG]: 4, [UNDEFINED]: 1 }

type Entry = [tag: number, type: keyof typeof BYTES_OF, values: readonly number[] | Buffer]

/**
 * Writes pixels into an uncompressed TIFF, the simplest file with a colour profile that libvips reads.
 *
 * @see TIFF 6.0, sections 2 and 6
 */
export function tiffOf({ width, height, channels, pages = 1, model = 'rgb', profile, row }: Pixels): Buffer {
  const { colours, photometric } = MODELS[model]
  const strips = Array.from({ length: Math.ceil(height / ROWS_PER_STRIP) }, (_, i) => i * ROWS_PER_STRIP)
  const rowBytes = width * channels
  const lengths = strips.map((y) => Math.min(ROWS_PER_STRIP, height - y) * rowBytes)
  const entries = (pixelsAt: number): Entry[] => [
    [256, LONG, [width]],
    [257, LONG, [height]],
    [258, SHORT, Array.from({ length: channels }, () => 8)],
    // No compression.
    [259, SHORT, [1]],
    [262, SHORT, [photometric]],
    [273, LONG, strips.map((y) => pixelsAt + y * rowBytes)],
    [277, SHORT, [channels]],
    [278, LONG, [ROWS_PER_STRIP]],
    [279, LONG, lengths],
    // Alpha that is not premultiplied.
    ...(channels > colours ? [[338, SHORT, [2]] satisfies Entry] : []),
    ...(profile ? [[34675, UNDEFINED, profile] satisfies Entry] : []),
  ]
  const headBytes = directory(entries(0), { at: 0, next: 0 }).length
  // Directories start at even positions.
  const pageBytes = headBytes + height * rowBytes + ((height * rowBytes) % 2)
  const file = Buffer.alloc(SIGNATURE.length + pages * pageBytes)
  file.set(SIGNATURE)
  for (let page = 0; page < pages; page += 1) {
    const at = SIGNATURE.length + page * pageBytes
    const pixelsAt = at + headBytes
    const next = page === pages - 1 ? 0 : at + pageBytes
    file.set(directory(entries(pixelsAt), { at, next }), at)
    for (let y = 0; y < height; y += 1) file.set(row(page * height + y), pixelsAt + y * rowBytes)
  }
  return file
}

// Little endian, and the first directory follows.
const SIGNATURE = Buffer.from('II*\0\x08\0\0\0', 'latin1')

/** A directory at this position, with the values that do not fit into it, and the position of the next one. */
function directory(entries: readonly Entry[], { at: position, next }: { at: number; next: number }): Buffer {
  const start = Buffer.alloc(2 + entries.length * 12 + 4)
  start.writeUInt16LE(entries.length, 0)
  start.writeUInt32LE(next, start.length - 4)
  const further: Buffer[] = []
  let furtherAt = position + start.length
  for (const [i, [tag, type, values]] of entries.entries()) {
    const at = 2 + i * 12
    start.writeUInt16LE(tag, at)
    start.writeUInt16LE(type, at + 2)
    start.writeUInt32LE(values.length, at + 4)
    const bytes = bytesOf(values, BYTES_OF[type])
    if (bytes.length <= 4) {
      bytes.copy(start, at + 8)
      continue
    }
    start.writeUInt32LE(furtherAt, at + 8)
    // Values start at even positions.
    const padded = bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)])
    further.push(padded)
    furtherAt += padded.length
  }
  return Buffer.concat([start, ...further])
}

function bytesOf(values: readonly number[] | Buffer, size: number): Buffer {
  if (Buffer.isBuffer(values)) return values
  const bytes = Buffer.alloc(values.length * size)
  for (const [i, value] of values.entries()) bytes.writeUIntLE(value, i * size, size)
  return bytes
}

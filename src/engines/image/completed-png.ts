import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { constants, crc32, createDeflate, createInflate } from 'node:zlib'
import { notDecodable } from '../../core/transform-problems.ts'
import { deinterlaced, type PngShape } from './interlaced-png.ts'

// By colour type: grey, RGB, palette, grey with alpha, RGB with alpha. @see PNG (third edition), section 11.2.1
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const HEADER_BYTES = 33
const INTERLACE_AT = 28
const CHUNK_BYTES = 64 * 1024
const ZEROS = Buffer.alloc(CHUNK_BYTES)

/** Whether these are the bytes of a PNG. */
export function isPng(bytes: Buffer): boolean {
  return bytes.length > HEADER_BYTES && bytes.toString('latin1', 1, 4) === 'PNG'
}

/**
 * Completes a truncated PNG with zeros for the missing rows: black, or transparent. libvips would leave those rows
 * uninitialised, and deliver memory of other images. An interlaced one is coarser where its last passes are missing;
 * libvips would not decode it at all.
 *
 * @param bytes an image within the pixel limit: all pixels are compressed again, row by row. Those of an interlaced
 *   one are held in memory
 * @throws Problem 422 for a PNG without one complete row; `signal.reason`
 */
export async function completedPng(bytes: Buffer, signal: AbortSignal): Promise<Buffer> {
  const width = bytes.readUInt32BE(16)
  const height = bytes.readUInt32BE(20)
  const bitsPerPixel = bytes.readUInt8(24) * (CHANNELS[bytes.readUInt8(25)] ?? 1)
  const { before, packed } = splitAtPixels(bytes)
  const parts = [plainHeader(before)]
  const rowsOf = bytes.readUInt8(INTERLACE_AT) === 0 ? allRows : passRows
  const rows = rowsOf(packed, { width, height, bitsPerPixel })
  const deflate = createDeflate({ level: constants.Z_BEST_SPEED, chunkSize: CHUNK_BYTES })
  const collect = async (source: AsyncIterable<Buffer>) => {
    for await (const part of source) parts.push(...chunk('IDAT', part))
  }
  await pipeline(rows, deflate, collect, { signal })
  parts.push(...chunk('IEND', Buffer.alloc(0)))
  // The only copy of the whole file: the forecast assumes three times the source.
  return Buffer.concat(parts)
}

/** The chunks before the pixels, and the compressed pixels. */
function splitAtPixels(bytes: Buffer): { before: Buffer; packed: Buffer[] } {
  const packed: Buffer[] = []
  let first = bytes.length
  for (let at = 8; at + 8 < bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    if (bytes.toString('latin1', at + 4, at + 8) !== 'IDAT') continue
    first = Math.min(first, at)
    packed.push(bytes.subarray(at + 8, at + 8 + bytes.readUInt32BE(at)))
  }
  return { before: bytes.subarray(0, first), packed }
}

/** The chunks before the pixels, with the header of a PNG that is not interlaced. */
function plainHeader(before: Buffer): Buffer {
  if (before.readUInt8(INTERLACE_AT) === 0) return before
  const plain = Buffer.from(before)
  plain.writeUInt8(0, INTERLACE_AT)
  plain.writeUInt32BE(crc32(plain.subarray(12, HEADER_BYTES - 4)), HEADER_BYTES - 4)
  return plain
}

async function* passRows(packed: readonly Buffer[], shape: PngShape): AsyncGenerator<Buffer> {
  const rows = await deinterlaced(inflated(packed), shape)
  if (!rows) throw withoutRows()
  yield* rows
}

async function* allRows(
  packed: readonly Buffer[],
  { width, height, bitsPerPixel }: PngShape,
): AsyncGenerator<Buffer> {
  // Each row begins with its filter.
  const rowBytes = 1 + Math.ceil((width * bitsPerPixel) / 8)
  const total = rowBytes * height
  let left = total
  for await (const piece of inflated(packed)) {
    yield piece.subarray(0, left)
    left = Math.max(0, left - piece.length)
    if (left === 0) return
  }
  if (total - left < rowBytes) throw withoutRows()
  for (; left > 0; left -= ZEROS.length) yield ZEROS.subarray(0, left)
}

/** Inflates as much as possible. */
async function* inflated(packed: readonly Buffer[]): AsyncGenerator<Buffer> {
  const inflate = createInflate({ finishFlush: constants.Z_SYNC_FLUSH })
  const source = Readable.from(packed).pipe(inflate)
  try {
    for await (const piece of source) yield piece
  } catch {
    // The rows before the broken part have been read.
  }
}

function withoutRows() {
  return notDecodable('This image is truncated: its file ends before the first row of pixels.')
}

function chunk(type: string, content: Buffer): Buffer[] {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(content.length)
  head.write(type, 4, 'latin1')
  const check = Buffer.alloc(4)
  check.writeUInt32BE(crc32(content, crc32(type)))
  return [head, content, check]
}

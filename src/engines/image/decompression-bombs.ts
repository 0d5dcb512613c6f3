import { gunzipSync } from 'node:zlib'
import { notTransformable } from '../../core/transform-problems.ts'

// Text chunks of a PNG, which are not part of the image. libpng unpacks zTXt and iTXt when it reads the header: 19 of
// them in 146 kB take 1 GB, 900 in 7 MB take 4 GB. Each empty tEXt chunk is a warning, which sharp passes to
// JavaScript: 3.3 million in 40 MB block the event loop for 18 s.
const TEXTS = new Set(['zTXt', 'iTXt', 'tEXt'].map(codeOf))
// An XMP packet with its padding has 10 kB. Inflated at most a thousandfold, this limit becomes 16 MB. It also allows
// at most 1365 warnings.
const MAX_TEXT_BYTES = 16_384
// For a GIF of 1.5 million frames of one pixel (35 MB), libvips takes 3 s to read the header and 40 s for the rest.
const MAX_FRAMES = 5000
// A WebP has a few chunks in addition to its frames, a PNG has chunks of 4 to 64 KB for its pixels. Any other chunk
// may be a warning.
const MAX_CHUNKS = 10_000
const PIXEL_CHUNK_BYTES = 4096
// An encoder fills each block of a GIF, of up to 255 bytes, except for the last one of a frame or an extension.
const MAX_SHORT_BLOCKS = 50_000
const FULL_BLOCK_BYTES = 64

// A larger drawing exceeds other limits as well. To inflate it takes 20 ms of the main thread.
const MAX_INFLATED_BYTES = 8 * 1024 * 1024

/**
 * Removes decompression bombs from an encoded image before it is decoded: the text chunks of a PNG, the compression
 * of an SVGZ. It reads so few bytes that it may run on the main thread: at most a million blocks of 40 MB, in 5 ms.
 *
 * @throws Problem 422 for an animation of too many frames, a file of too many chunks, and an SVGZ that is broken or
 *   inflates to more than 8 MiB
 */
export function stripDecompressionBombs(bytes: Buffer): Buffer {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return inflated(bytes)
  if (bytes.toString('latin1', 1, 4) === 'PNG') return withoutTexts(bytes)
  const frames = bytes.toString('latin1', 0, 3) === 'GIF' ? gifFrames(bytes) : webpFrames(bytes)
  checkFrames({ pages: frames })
  return bytes
}

/** @throws Problem 422 for an animation of too many frames */
export function checkFrames({ pages }: { pages: number }): void {
  if (pages <= MAX_FRAMES) return
  throw notTransformable(
    `expected an animation of at most ${MAX_FRAMES} frames to transform but this one has more`,
  )
}

function inflated(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_INFLATED_BYTES })
  } catch (cause) {
    const expected = `expected an SVGZ that inflates to at most ${MAX_INFLATED_BYTES} bytes but this one is broken or larger`
    throw notTransformable(expected, cause)
  }
}

/** Unchanged when the texts are short. @see PNG (third edition), section 5.3 */
function withoutTexts(bytes: Buffer): Buffer {
  const most = Math.max(MAX_CHUNKS, Math.ceil(bytes.length / PIXEL_CHUNK_BYTES))
  const remaining: Buffer[] = []
  let chunks = 0
  let texts = 0
  let from = 0
  let at = 8
  while (at + 12 <= bytes.length) {
    chunks += 1
    if (chunks > most) throw tooManyParts('a PNG', most, 'chunks')
    const next = at + 12 + bytes.readUInt32BE(at)
    if (TEXTS.has(bytes.readUInt32BE(at + 4))) {
      texts += next - at
      remaining.push(bytes.subarray(from, at))
      from = next
    }
    at = next
  }
  remaining.push(bytes.subarray(from))
  return texts > MAX_TEXT_BYTES ? Buffer.concat(remaining) : bytes
}

/** Stops counting at one above the limit. @see GIF89a, appendix B */
function gifFrames(bytes: Buffer): number {
  const palette = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  const most = MAX_SHORT_BLOCKS + Math.ceil(bytes.length / FULL_BLOCK_BYTES)
  let blocks = 0
  let frames = 0
  let at = 13 + palette(bytes[10] ?? 0)
  while (at < bytes.length && frames <= MAX_FRAMES) {
    const mark = bytes[at]
    if (mark === 0x2c) {
      frames += 1
      at += 11 + palette(bytes[at + 9] ?? 0)
    } else if (mark === 0x21) at += 2
    else break
    blocks += 1
    for (let length = bytes[at]; length && blocks <= most; length = bytes[at]) {
      at += 1 + length
      blocks += 1
    }
    if (blocks > most) throw tooManyParts('a GIF', most, 'blocks')
    at += 1
  }
  return frames
}

/** Returns 0 for a file that is not an animation. @see RFC 9649, section 2.7 */
function webpFrames(bytes: Buffer): number {
  if (bytes.toString('latin1', 8, 12) !== 'WEBP') return 0
  const frame = codeOf('ANMF')
  let chunks = 0
  let frames = 0
  for (let at = 12; at + 8 <= bytes.length && frames <= MAX_FRAMES; ) {
    chunks += 1
    if (chunks > MAX_CHUNKS) throw tooManyParts('a WebP', MAX_CHUNKS, 'chunks')
    if (bytes.readUInt32BE(at) === frame) frames += 1
    const length = bytes.readUInt32LE(at + 4)
    at += 8 + length + (length % 2)
  }
  return frames
}

/** The type of a chunk as a number: texts for millions of chunks would be garbage to collect. */
function codeOf(type: string): number {
  return Buffer.from(type, 'latin1').readUInt32BE(0)
}

function tooManyParts(what: string, most: number, parts: string) {
  return notTransformable(`expected ${what} of at most ${most} ${parts} to transform but this one has more`)
}

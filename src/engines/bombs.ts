import { gunzipSync } from 'node:zlib'
import { notTransformable } from '../core/problem.ts'

// Names of the chunks of a PNG that libpng unpacks as it reads the header, and that are in no picture: 19 of them in
// 146 kB take 1 GB, 900 in 7 MB take 4 GB.
const PACKED_TEXTS = new Set(['zTXt', 'iTXt'])
// An XMP packet with its padding has 10 kB; packed at most a thousandfold, this becomes 16 MB.
const MAX_PACKED_TEXT = 16_384
// Of a GIF of 1.5 million frames of one pixel (35 MB), libvips takes 3 s to read the header and 40 s for the rest.
const MAX_FRAMES = 5000
// A drawing of more than this is past other limits as well.
const MAX_INFLATED_BYTES = 32 * 1024 * 1024

/**
 * Takes from an encoded picture what libvips would choke on before anything is decoded: packed texts of a PNG, the compression of an SVGZ.
 *
 * @throws Problem 422 for an animation of more frames than anybody draws, and for an SVGZ that is broken or inflates to more
 *   than 32 MiB
 */
export function defused(bytes: Buffer): Buffer {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) return inflated(bytes)
  if (bytes.toString('latin1', 1, 4) === 'PNG') return withoutPackedTexts(bytes)
  const frames = bytes.toString('latin1', 0, 3) === 'GIF' ? gifFrames(bytes) : webpFrames(bytes)
  if (frames > MAX_FRAMES) {
    throw notTransformable(
      `expected an animation of at most ${MAX_FRAMES} frames to transform but this one has more`,
    )
  }
  return bytes
}

function inflated(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_INFLATED_BYTES })
  } catch (cause) {
    const expected = `expected an SVGZ that inflates to at most ${MAX_INFLATED_BYTES} bytes but this one is broken or larger`
    throw notTransformable(expected, cause)
  }
}

/** As it is when they are few. @see PNG (third edition), section 5.3 */
function withoutPackedTexts(bytes: Buffer): Buffer {
  const kept: Buffer[] = []
  let texts = 0
  let from = 0
  let at = 8
  while (at + 12 <= bytes.length) {
    const next = at + 12 + bytes.readUInt32BE(at)
    if (PACKED_TEXTS.has(bytes.toString('latin1', at + 4, at + 8))) {
      texts += next - at
      kept.push(bytes.subarray(from, at))
      from = next
    }
    at = next
  }
  kept.push(bytes.subarray(from))
  return texts > MAX_PACKED_TEXT ? Buffer.concat(kept) : bytes
}

/** Counts no further than one past the limit. @see GIF89a, appendix B */
function gifFrames(bytes: Buffer): number {
  const palette = (flags: number) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0)
  let frames = 0
  let at = 13 + palette(bytes[10] ?? 0)
  while (at < bytes.length && frames <= MAX_FRAMES) {
    const mark = bytes[at]
    if (mark === 0x2c) {
      frames += 1
      at += 11 + palette(bytes[at + 9] ?? 0)
    } else if (mark === 0x21) at += 2
    else break
    for (let length = bytes[at]; length; length = bytes[at]) at += 1 + length
    at += 1
  }
  return frames
}

/** None of what is no animation. @see RFC 9649, section 2.7 */
function webpFrames(bytes: Buffer): number {
  if (bytes.toString('latin1', 8, 12) !== 'WEBP') return 0
  let frames = 0
  for (let at = 12; at + 8 <= bytes.length && frames <= MAX_FRAMES; ) {
    if (bytes.toString('latin1', at, at + 4) === 'ANMF') frames += 1
    const length = bytes.readUInt32LE(at + 4)
    at += 8 + length + (length % 2)
  }
  return frames
}

/**
 * The same image file without what is no part of its pixels: EXIF, XMP, IPTC, comments, texts, profiles, thumbnails. Nothing
 * is decoded, so no quality is lost.
 *
 * @param format `jpeg`, `png`, `webp` or `gif`
 * @param bytes of an upright image in sRGB
 * @returns undefined for another format, and for a file of another structure
 */
export function withoutMetadata(format: string, bytes: Buffer): Buffer | undefined {
  if (format === 'jpeg') return jpeg(bytes)
  if (format === 'png') return png(bytes)
  if (format === 'webp') return webp(bytes)
  if (format === 'gif') return gif(bytes)
  return undefined
}

// The density of JFIF, and the colours of Adobe: without the latter an RGB or inverted image would look different.
const KEPT_SEGMENTS = new Set([0xe0, 0xee])
const START_OF_SCAN = 0xda
const END = Buffer.from([0xff, 0xd9])

/** Ends after the first image: a photo may have others behind it. @see ITU T.81, annex B */
function jpeg(bytes: Buffer): Buffer | undefined {
  const parts = [bytes.subarray(0, 2)]
  for (let at = 2; at + 4 <= bytes.length; ) {
    const marker = bytes[at + 1] ?? 0
    if (bytes[at] !== 0xff || marker < 0xc0) return undefined
    const end = at + 2 + bytes.readUInt16BE(at + 2)
    const isText = (marker >= 0xe0 && marker <= 0xef && !KEPT_SEGMENTS.has(marker)) || marker === 0xfe
    if (!isText) parts.push(bytes.subarray(at, end))
    if (marker === START_OF_SCAN) {
      const next = endOfScan(bytes, end)
      parts.push(bytes.subarray(end, next))
      if (bytes.subarray(next, next + 2).equals(END)) return Buffer.concat([...parts, END])
      at = next
    } else at = end
  }
  return undefined
}

/** The position of the first marker after the compressed data: 0xff, followed by neither 0 nor a restart. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return at
  }
  return bytes.length
}

// All others are texts and times, or describe sRGB, which is the default.
const KEPT_CHUNKS = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND', 'sBIT'])

/** @see PNG (third edition), section 4.8 */
function png(bytes: Buffer): Buffer | undefined {
  const parts = [bytes.subarray(0, 8)]
  for (let at = 8; at + 12 <= bytes.length; ) {
    const end = at + 12 + bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + 8)
    // An animation, and colours for HDR.
    if (type === 'acTL' || type === 'cICP') return undefined
    if (KEPT_CHUNKS.has(type)) parts.push(bytes.subarray(at, end))
    if (type === 'IEND') return Buffer.concat(parts)
    at = end
  }
  return undefined
}

const METADATA_FLAGS = 0x20 | 0x08 | 0x04
const METADATA = new Set(['ICCP', 'EXIF', 'XMP '])

/** @see RFC 9649, section 2.7 */
function webp(bytes: Buffer): Buffer | undefined {
  const parts: Buffer[] = []
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4)
    const size = bytes.readUInt32LE(at + 4)
    const end = at + 8 + size + (size % 2)
    if (end > bytes.length + 1) return undefined
    if (!METADATA.has(name)) {
      const part = Buffer.from(bytes.subarray(at, end))
      if (name === 'VP8X') part.writeUInt8((part[8] ?? 0) & ~METADATA_FLAGS, 8)
      parts.push(part)
    }
    at = end
  }
  const body = Buffer.concat(parts)
  const head = Buffer.from(bytes.subarray(0, 12))
  head.writeUInt32LE(body.length + 4, 4)
  return Buffer.concat([head, body])
}

const IMAGE = 0x2c
const EXTENSION = 0x21
const COMMENT = 0xfe
const APPLICATION = 0xff
const TRAILER = 0x3b
// The extensions of applications that state how often an animation is shown.
const LOOPS = ['NETSCAPE2.0', 'ANIMEXTS1.0']

/** @see GIF89a specification, section 17 ff. */
function gif(bytes: Buffer): Buffer | undefined {
  let at = 13 + colourTable(bytes[10])
  const parts = [bytes.subarray(0, at)]
  while (at + 1 < bytes.length) {
    const [kind, label] = [bytes[at], bytes[at + 1]]
    if (kind !== IMAGE && kind !== EXTENSION) break
    const first = kind === IMAGE ? at + 11 + colourTable(bytes[at + 9]) : at + 2
    const end = endOfBlocks(bytes, first)
    if (end === undefined) return undefined
    const isLoop = LOOPS.includes(bytes.toString('latin1', at + 3, at + 14))
    const isText = kind === EXTENSION && (label === COMMENT || (label === APPLICATION && !isLoop))
    if (!isText) parts.push(bytes.subarray(at, end))
    at = end
  }
  return bytes[at] === TRAILER ? Buffer.concat([...parts, bytes.subarray(at, at + 1)]) : undefined
}

/** The bytes of the colour table that these flags announce. */
function colourTable(flags = 0): number {
  return flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0
}

/** The position after a list of blocks; undefined when the file ends before. */
function endOfBlocks(bytes: Buffer, from: number): number | undefined {
  for (let at = from; at < bytes.length; at += 1 + (bytes[at] ?? 0)) if (bytes[at] === 0) return at + 1
  return undefined
}

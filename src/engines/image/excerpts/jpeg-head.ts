import { byteOrder } from '../../../core/media/tiff-directory.ts'

const EXIF = Buffer.from('Exif\0\0', 'latin1')
const START = 0xd8
const SCAN = 0xda
const APP1 = 0xe1
// A segment of unknown content, which readers ignore.
const APP15 = 0xef
// Baseline, extended and progressive frames. The others are lossless or arithmetic.
const FRAMES = new Set([0xc0, 0xc1, 0xc2])
const NO_FRAMES = new Set([0xc4, 0xc8, 0xcc])

/** The longest TIFF that fits into a segment with its length and the name `Exif`. */
export const EXIF_MAX_BYTES = 0xffff - 2 - EXIF.length

/** The start of a JPEG. */
export interface JpegHead {
  /** The positions of the markers of the segments with EXIF. */
  exifAt: number[]
}

/**
 * Reads the segments of a JPEG up to its frame. Undefined for other bytes, and for a JPEG that browsers do not show: the
 * raw data of several cameras is a lossless JPEG.
 *
 * @see ITU T.81, annex B
 */
export function jpegHead(head: Buffer): JpegHead | undefined {
  if (head[0] !== 0xff || head[1] !== START) return undefined
  const exifAt: number[] = []
  for (let at = 2; at + 9 <= head.length; ) {
    const marker = head.readUInt8(at + 1)
    if (head.readUInt8(at) !== 0xff || marker === SCAN) return undefined
    // Any number of these bytes may precede a marker.
    if (marker === 0xff) {
      at += 1
      continue
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && !NO_FRAMES.has(marker)
    if (isFrame) {
      const bits = head.readUInt8(at + 4)
      const pixels = head.readUInt16BE(at + 5) * head.readUInt16BE(at + 7)
      return FRAMES.has(marker) && bits === 8 && pixels > 0 ? { exifAt } : undefined
    }
    if (marker === APP1 && head.subarray(at + 4, at + 4 + EXIF.length).equals(EXIF)) exifAt.push(at)
    at += 2 + head.readUInt16BE(at + 2)
  }
  return undefined
}

/**
 * Returns the start of a JPEG with this EXIF instead of its own.
 *
 * @param tiff the start of a file, of at most {@link EXIF_MAX_BYTES}: EXIF is a TIFF without pixels
 */
export function withExif(head: Buffer, { exifAt }: JpegHead, tiff: Buffer): Buffer {
  const others = Buffer.from(head)
  for (const at of exifAt) others.writeUInt8(APP15, at + 1)
  const segment = Buffer.concat([Buffer.from([0xff, APP1, 0, 0]), EXIF, tiff])
  segment.writeUInt16BE(segment.length - 2, 2)
  // Olympus and Panasonic have other version numbers than a TIFF.
  const at = segment.length - tiff.length
  segment.write(byteOrder(tiff) === 'le' ? '*\0' : '\0*', at + 2, 'latin1')
  return Buffer.concat([others.subarray(0, 2), segment, others.subarray(2)])
}

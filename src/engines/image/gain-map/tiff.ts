import type { Gains } from './gains.ts'
import { withGains } from './jpeg.ts'

// After the last byte of the TIFF: the JPEG of the gain map, its length, and this.
const MARK = Buffer.from('gain map')
const END_BYTES = 4 + MARK.length

/** Adds a gain map to the pixels of a smaller copy, which are a TIFF. Other readers of it ignore the addition. */
export function tiffWithGainMap(tiff: Buffer, how: { map: Buffer; gains: Gains }): Buffer {
  const map = withGains(how)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(map.length)
  return Buffer.concat([tiff, map, length, MARK])
}

/** The JPEG of the gain map of a smaller copy. Undefined without one. */
export function gainMapInTiff(tiff: Buffer): Buffer | undefined {
  const end = tiff.length - END_BYTES
  if (end < 0 || !tiff.subarray(end + 4).equals(MARK)) return undefined
  const start = end - tiff.readUInt32BE(end)
  return start < 0 ? undefined : tiff.subarray(start, end)
}

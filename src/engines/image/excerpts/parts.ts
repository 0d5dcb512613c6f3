import { type Asset, readWhole } from '../../../core/bytes/asset.ts'
import type { Problem } from '../../../core/problem.ts'
import { notDecodable } from '../../../core/transform-problems.ts'

/** Bytes at the start of a file that are read at once. They usually have all directories of a RAW file. */
export const HEAD_BYTES = 128 * 1024

// Other reads of one file: a crafted one could name thousands of places.
const MAX_READS = 16

/** Reads parts of a file of any size, a bounded number of them. */
export interface Parts {
  /** The size of the file in bytes. */
  size: number
  /** Returns at most `length` bytes from a position; fewer at the end of the file. @throws Problem 422 after too many reads */
  read(at: number, length: number): Promise<Buffer>
}

/** Prepares to read parts of a file. */
export function partsOf(asset: Asset, signal: AbortSignal): Parts {
  const { size } = asset
  const range = (start: number, end: number) => readWhole(asset, { range: { start, end: end - 1 }, signal })
  let head: Promise<Buffer> | undefined
  let reads = 0
  return {
    size,
    async read(at, length) {
      if (at >= size) return Buffer.alloc(0)
      const end = Math.min(at + length, size)
      if (end <= HEAD_BYTES) {
        head ??= range(0, Math.min(HEAD_BYTES, size))
        return (await head).subarray(at, end)
      }
      reads += 1
      if (reads > MAX_READS) throw withoutPreview()
      return range(at, end)
    },
  }
}

/** Problem 422: a RAW file without a preview that can be shown. */
export function withoutPreview(): Problem {
  return notDecodable('expected a RAW photo with a JPEG as its preview but this one has no JPEG')
}

import { PassThrough, pipeline, type Readable } from 'node:stream'
import { type Asset, assetFromBytes, type ByteRange, lengthOf } from './asset.ts'

/** Creates an asset of bytes in memory that part of a file follows. */
export function joinedAsset(
  start: Buffer,
  { file, rest, mediaType }: { file: Asset; rest: ByteRange | undefined; mediaType: string },
): Asset {
  const { lastModified } = file
  const inMemory = assetFromBytes(start, { mediaType, lastModified })
  if (!rest) return inMemory
  const size = start.length + lengthOf(rest)
  return {
    size,
    mediaType,
    lastModified,
    async open({ range = { start: 0, end: size - 1 }, ...options } = {}): Promise<Readable> {
      if (range.end < start.length) return inMemory.open({ range, ...options })
      const from = rest.start + Math.max(0, range.start - start.length)
      const part = await file.open({
        ...options,
        range: { start: from, end: rest.start + range.end - start.length },
      })
      if (range.start >= start.length) return part
      const joined = new PassThrough()
      joined.write(start.subarray(range.start))
      // `pipeline` passes an error on to `joined`, and destroying `joined` releases the file.
      pipeline(part, joined, () => {})
      return joined
    },
  }
}

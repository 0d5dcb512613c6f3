import { Readable } from 'node:stream'

/** A part of a file: both bounds inclusive, in bytes from 0. */
export interface ByteRange {
  start: number
  end: number
}

/** How {@link Asset.open} is asked for bytes. */
export interface OpenOptions {
  /** Without it, the whole file. Must lie inside the file. */
  range?: ByteRange
  /** Destroys the stream, or ends the wait for it. */
  signal?: AbortSignal
}

/**
 * The bytes of a file that can be opened again and again: a factory of streams, never a stream.
 */
export interface Asset {
  /** Bytes. */
  readonly size: number
  /** As sent in `Content-Type`: `image/webp`. */
  readonly mediaType: string
  /** To the millisecond at best. */
  readonly lastModified: Date
  /**
   * A new stream over the bytes; resolves once it is certain that they are there. The caller consumes or destroys it.
   * @throws Problem 404 when the file is gone by now
   */
  open(options?: OpenOptions): Promise<Readable>
}

/** An asset over bytes in memory. */
export function assetFromBytes(
  bytes: Uint8Array,
  { mediaType, lastModified }: { mediaType: string; lastModified: Date },
): Asset {
  return {
    size: bytes.byteLength,
    mediaType,
    lastModified,
    open: async ({ range, signal } = {}) => {
      signal?.throwIfAborted()
      // The array around the bytes keeps Readable.from from walking over them one by one.
      return Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes])
    },
  }
}

/** All bytes of an asset, for those that are small by their limits. */
export async function readAll(asset: Asset, signal?: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  const stream = await asset.open(signal ? { signal } : {})
  for await (const chunk of stream) {
    signal?.throwIfAborted()
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

import { pipeline, Readable, Transform } from 'node:stream'
import type { AssetUrl, AssetUrlOptions } from './asset-url.ts'
import { InMemoryStream } from './in-memory-stream.ts'
import { pieceOf } from './piece.ts'

/** A part of a file, in bytes from 0. Both bounds are inclusive. */
export interface ByteRange {
  start: number
  end: number
}

/** The number of bytes in a range. */
export function lengthOf({ start, end }: ByteRange): number {
  return end - start + 1
}

/** Options of {@link Asset.open}. */
export interface OpenOptions {
  /** The range to read; the whole file by default. Must lie within the file. Fails if the file has been replaced. */
  range?: ByteRange
  /** Destroys the stream, or stops the wait for it. */
  signal?: AbortSignal
  /** The caller will hold all bytes in memory: the stream may be a single chunk of any size. */
  atOnce?: boolean
  /**
   * For a reader that may be slow: each piece is read on demand, into the memory that this function returns. A source
   * that brings its own memory, such as S3, does not call it.
   */
  newPiece?: () => Buffer
}

/** The bytes of a file. Each `open` returns a new stream. */
export interface Asset {
  /** Size in bytes. */
  readonly size: number
  /** The value of `Content-Type`: `image/webp`. */
  readonly mediaType: string
  /** Precise to the millisecond at best. */
  readonly lastModified: Date
  /** The ETag of the store, where it has one. Another ETag means other bytes. */
  readonly etag?: string
  /** A text without quotes that lists of the bucket have for this object, too. Another object under its key has another tag. */
  readonly tag?: string
  /**
   * Absolute path, when this is a file of this machine, for libraries and programs that read files themselves. The
   * file may be deleted at any time.
   */
  readonly file?: string
  /** Creates a URL at which the store itself sends these bytes. Absent where callers cannot reach the store. */
  readonly urlFor?: (options: AssetUrlOptions) => Promise<AssetUrl>
  /**
   * SHA-256 of the bytes in hexadecimal, where it is known. Facts computed from the bytes apply to all assets with
   * the same hash.
   */
  readonly sha256?: string
  /** CRC-32 of the bytes, where it is known: an archive states it before the bytes are read. */
  readonly crc32?: number
  /** Set for a smaller copy of an image: the facts of the image that it replaces. */
  readonly copyOf?: FullImage
  /** Set for an image whose file is truncated. */
  readonly truncated?: true
  /** Cache for the probe result of a video or audio file, where there is one. */
  readonly probe?: CachedProbe
  /**
   * For bytes in memory that are being stored: calls `listener` when the store fails, or at once when it has failed
   * already. From then on the bytes stay in memory while they are read.
   *
   * @returns a function that removes the listener
   */
  readonly onNotStored?: (listener: () => void) => () => void
  /**
   * Opens a new stream over the bytes. Resolves once it is certain that the bytes exist. The caller consumes or
   * destroys the stream.
   *
   * @throws Problem 404 when the file has been deleted, 503 for a range when the file has been replaced,
   *   `signal.reason` when the signal has aborted already: a stream that aborts at its creation fails before it has a
   *   listener, which would end the process
   */
  open(options?: OpenOptions): Promise<Readable>
}

/** An image that a smaller copy replaces. */
export interface FullImage {
  /** Pixels, upright. */
  width: number
  height: number
  /** By Sluice's name: `jpeg`. */
  format: string
  /** Its file; absent when the image is only a part of a file. */
  file?: ImageFile
  /** The size is an upper bound, and copies have the size of the image itself: a page of a document. */
  isBound?: true
}

/** Facts about the file of an image, which a derivative should not exceed. */
export interface ImageFile {
  /** Its size. */
  bytes: number
  /** In pixels, upright. */
  width: number
  height: number
  /** Of a JPEG: with which it was compressed, from 1 to 100. */
  quality?: number
}

/** Caches the probe result of a media file, so that its headers are read once. */
export interface CachedProbe {
  /** The stored text, if there is one. */
  readonly text: string | undefined
  /** @param text at most {@link MAX_PROBE_LENGTH} characters */
  keep(text: string): Promise<void>
}

/**
 * Limit of the text in a {@link CachedProbe}, which is loaded with the other information about a file. A usual video
 * has some 600 characters.
 */
export const MAX_PROBE_LENGTH = 4000

/** Creates an asset over bytes in memory. */
export function assetFromBytes(
  bytes: Uint8Array,
  { mediaType, lastModified }: { mediaType: string; lastModified: Date },
): Asset {
  return {
    size: bytes.byteLength,
    mediaType,
    lastModified,
    open: async ({ range, signal, newPiece } = {}) => {
      signal?.throwIfAborted()
      if (newPiece) return copiedPieces(bytes, { range, newPiece })
      const part = range ? bytes.subarray(range.start, range.end + 1) : bytes
      return new InMemoryStream(
        Buffer.isBuffer(part) ? part : Buffer.from(part.buffer, part.byteOffset, part.byteLength),
      )
    },
  }
}

/** Copies the bytes: a slice of them in a connection's buffer would keep all of them in memory. */
function copiedPieces(
  bytes: Uint8Array,
  {
    range = { start: 0, end: bytes.byteLength - 1 },
    newPiece,
  }: { range: ByteRange | undefined; newPiece: () => Buffer },
): Readable {
  function* pieces() {
    for (let at = range.start; at <= range.end; ) {
      const memory = newPiece()
      const piece = pieceOf(memory, Math.min(memory.length, range.end + 1 - at))
      piece.set(bytes.subarray(at, at + piece.length))
      at += piece.length
      yield piece
    }
  }
  return Readable.from(pieces(), { objectMode: false, highWaterMark: 0 })
}

/**
 * Opens an asset, and fails when the stream ends early. A file may have been cut after its size was read.
 *
 * @throws Problem 404 when the file has been deleted
 */
export async function openWhole(asset: Asset, options: OpenOptions = {}): Promise<Readable> {
  const { range } = options
  const expected = range ? lengthOf(range) : asset.size
  const source = await asset.open(options)
  let length = 0
  const whole = new Transform({
    transform(chunk: Buffer, _encoding, passOn) {
      length += chunk.length
      passOn(null, chunk)
    },
    flush(end) {
      end(length === expected ? null : notWhole(expected, length))
    },
  })
  // Listens to the source from the start: an error before the first read would otherwise end the process. `pipeline`
  // passes an error on to `whole`, and destroying `whole` releases the source.
  pipeline(source, whole, () => {})
  return whole
}

/**
 * Reads all bytes of an asset, or of a range of it. Only for assets of limited size.
 *
 * @throws Problem 404 when the file has been deleted, Error when the number of bytes is not the expected one
 */
export async function readWhole(asset: Asset, options: OpenOptions = {}): Promise<Buffer> {
  const { range, signal } = options
  const expected = range ? lengthOf(range) : asset.size
  const source = await asset.open({ ...options, atOnce: true })
  if (source instanceof InMemoryStream) {
    source.destroy()
    if (source.bytes.length !== expected) throw notWhole(expected, source.bytes.length)
    return source.bytes
  }
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source as AsyncIterable<Buffer>) {
    signal?.throwIfAborted()
    chunks.push(chunk)
    length += chunk.length
  }
  if (length !== expected) throw notWhole(expected, length)
  const [only, another] = chunks
  return only && !another ? only : Buffer.concat(chunks)
}

/** Reads all bytes of an asset. Only for assets of limited size. Throws like {@link readWhole}. */
export async function readAll(asset: Asset, signal?: AbortSignal): Promise<Buffer> {
  return readWhole(asset, signal ? { signal } : {})
}

/** Reads the first bytes of an asset: all of them when it has at most `maxBytes`. Throws like {@link readWhole}. */
export async function readStart(
  asset: Asset,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Buffer> {
  if (asset.size <= maxBytes) return readAll(asset, signal)
  return readWhole(asset, { range: { start: 0, end: maxBytes - 1 }, signal })
}

function notWhole(expected: number, received: number): Error {
  return new Error(`expected ${expected} bytes of a file but received ${received}`)
}

/** Returns the same asset with another date. @param at milliseconds since 1970 */
export function withLastModified(asset: Asset, at: number): Asset {
  return { ...asset, lastModified: new Date(at) }
}

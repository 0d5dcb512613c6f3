import { pipeline, Readable, Transform } from 'node:stream'

/** A part of a file: both bounds inclusive, in bytes from 0. */
export interface ByteRange {
  start: number
  end: number
}

/** Of a part in bytes. */
export function lengthOf({ start, end }: ByteRange): number {
  return end - start + 1
}

/** How {@link Asset.open} is asked for bytes. */
export interface OpenOptions {
  /**
   * Without it, the whole file. Must lie inside the file, and only makes sense in that one: it is not read from another
   * that has come into its place.
   */
  range?: ByteRange
  /** Destroys the stream, or ends the wait for it. */
  signal?: AbortSignal
  /** All of it will be held at once: it may come in one chunk, whatever its size. */
  atOnce?: boolean
  /**
   * For a reader that may be slow: pieces are read when they are requested, each into the memory that this returns. A source
   * that has its pieces from elsewhere, such as S3, does not call it.
   */
  newPiece?: () => Buffer
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
   * Its absolute path, where it is a file of this machine: for libraries and programs that read files themselves. By the
   * time that they do it may be gone.
   */
  readonly file?: string
  /** Of its bytes, in hex, where it is known: what has been found out of them once holds for all assets that have it. */
  readonly sha256?: string
  /** Of a picture: the file is truncated. */
  readonly truncated?: true
  /** Of a video or sound, where there is a place for it. */
  readonly probe?: CachedProbe
  /**
   * Of bytes in memory that are being stored: calls `listener` when that has failed, at once when it has failed before. From then
   * on the bytes stay in memory for as long as they are read.
   *
   * @returns a function that removes the listener
   */
  readonly onNotStored?: (listener: () => void) => () => void
  /**
   * A new stream over the bytes; resolves once it is certain that they are there. The caller consumes or destroys it.
   * @throws Problem 404 when the file is gone by now, 503 for a range when there is another, `signal.reason` when the
   *   signal is aborted by then: a stream that is born aborted fails before anybody can listen, which ends the process
   */
  open(options?: OpenOptions): Promise<Readable>
}

/** A place for what a file's headers say, so that they are read once. */
export interface CachedProbe {
  /** As it was kept, if it has been. */
  readonly text: string | undefined
  /** @param text at most {@link MAX_PROBE_LENGTH} characters */
  keep(text: string): Promise<void>
}

/** Of a {@link CachedProbe}: it is read with all that is known of a file. That of a usual video has some 600. */
export const MAX_PROBE_LENGTH = 4000

/** An asset over bytes in memory. */
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
      // The array around the bytes keeps Readable.from from walking over them one by one.
      return Readable.from([range ? bytes.subarray(range.start, range.end + 1) : bytes])
    },
  }
}

/** Copies: a part of the bytes in a connection's buffer would keep all of them in memory. */
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
      const rest = range.end + 1 - at
      const piece = rest < memory.length ? memory.subarray(0, rest) : memory
      piece.set(bytes.subarray(at, at + piece.length))
      at += piece.length
      yield piece
    }
  }
  return Readable.from(pieces(), { objectMode: false, highWaterMark: 0 })
}

/**
 * Opens an asset so that a stream which ends early fails instead: that of a file which was cut after its size was
 * read.
 * @throws Problem 404 when the file is gone by now
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
  // Listens to the source from the start, since one that fails before it is read would otherwise end the process. A
  // failure goes on to `whole`; destroying that lets go of the source.
  pipeline(source, whole, () => {})
  return whole
}

/**
 * All bytes of an asset, or of a range of it, for those that are small by their limits.
 * @throws Problem 404 when the file is gone by now, Error when it has not the bytes that it should have
 */
export async function readWhole(asset: Asset, options: OpenOptions = {}): Promise<Buffer> {
  const { range, signal } = options
  const expected = range ? lengthOf(range) : asset.size
  const chunks: Buffer[] = []
  let length = 0
  const source = await asset.open({ ...options, atOnce: true })
  for await (const chunk of source as AsyncIterable<Buffer>) {
    signal?.throwIfAborted()
    chunks.push(chunk)
    length += chunk.length
  }
  if (length !== expected) throw notWhole(expected, length)
  const [only, another] = chunks
  return only && !another ? only : Buffer.concat(chunks)
}

/** All bytes of an asset, for those that are small by their limits. */
export async function readAll(asset: Asset, signal?: AbortSignal): Promise<Buffer> {
  return readWhole(asset, signal ? { signal } : {})
}

function notWhole(expected: number, received: number): Error {
  return new Error(`expected ${expected} bytes of a file but received ${received}`)
}

/** The same asset with another date. @param at milliseconds since 1970 */
export function withLastModified(asset: Asset, at: number): Asset {
  return { ...asset, lastModified: new Date(at) }
}

import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import pLimit from 'p-limit'

// Concurrent reads of all readers together. Thousands of reads would fill the queue of libuv's threads and each turn of the
// event loop: health checks took 9 s. Twice the number of threads of a small machine keeps a disk busy.
const reading = pLimit(8)

/**
 * Pieces up to this size are read on demand. After a larger piece, the next one is read ahead. Files up to this size
 * are read as one piece.
 */
export const SMALL_PIECE_BYTES = 64 * 1024

/**
 * Streams a file. A piece of up to 64 KiB is read when it is requested, so no other piece is in memory. After a larger piece the
 * next one is read ahead. Closes the file at its end.
 *
 * @param options.isPart whether bytes may follow after the last one. When false, a longer file gives more than `length`
 *   bytes
 */
export function diskPieces(
  file: FileHandle,
  {
    start,
    length,
    isPart,
    newPiece,
    signal,
  }: {
    start: number
    length: number
    isPart: boolean
    newPiece: () => Buffer
    signal?: AbortSignal | undefined
  },
): Readable {
  let at = start
  const end = start + length + (isPart ? 0 : 1)
  /** Reads the next piece, empty at the end. A read that waits for its turn has no memory yet. */
  const next = () =>
    reading(async () => {
      if (at >= end) return Buffer.alloc(0)
      // After the last byte, only the end of the file is expected.
      const piece = at < start + length ? newPiece() : Buffer.alloc(1)
      const { bytesRead } = await file.read(piece, 0, Math.min(end - at, piece.length), at)
      at += bytesRead
      // Return the same object that `newPiece` gave, so that its memory can be reused.
      return bytesRead === piece.length ? piece : piece.subarray(0, bytesRead)
    })
  let ahead: Promise<Buffer> | undefined
  const stream = new Readable({
    highWaterMark: 0,
    ...(signal ? { signal } : {}),
    async read() {
      try {
        const piece = await (ahead ?? next())
        ahead = piece.length > SMALL_PIECE_BYTES ? next() : undefined
        // When the client disconnects, the file is closed and no caller waits for this piece.
        ahead?.catch(() => {})
        stream.push(piece.length > 0 ? piece : null)
      } catch (error) {
        stream.destroy(error as Error)
      }
    },
    destroy(error, done) {
      file.close().then(() => done(error), done)
    },
  })
  return stream
}

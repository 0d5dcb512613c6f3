import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import pLimit from 'p-limit'

// Reads of all readers together. Thousands at once would fill the queue of libuv's threads and each turn of the event loop:
// health checks took 9 s. Twice the threads of a small machine keep a disk busy.
const reading = pLimit(8)

/** Files up to this size are read at once. A reader of larger pieces takes each at once: the next one is read in the meantime. */
export const SMALL_PIECE_BYTES = 64 * 1024

/**
 * Streams a file. A piece of up to 64 KiB is read when it is requested, so no other piece is in memory. After a larger piece the
 * next one is read ahead. Closes the file at its end.
 *
 * @param options.isPart whether more may follow the last byte; otherwise a longer file gives more than `length` bytes
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
  /** Empty at the end. What waits for its turn has no memory yet. */
  const next = () =>
    reading(async () => {
      if (at >= end) return Buffer.alloc(0)
      // Behind the last byte only an end is expected.
      const piece = at < start + length ? newPiece() : Buffer.alloc(1)
      const { bytesRead } = await file.read(piece, 0, Math.min(end - at, piece.length), at)
      at += bytesRead
      // A whole piece as it was given: its memory is used again.
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
        // When the client leaves, the file is closed, and no caller waits for this piece.
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

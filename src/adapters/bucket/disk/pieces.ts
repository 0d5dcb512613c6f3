import { closeSync } from 'node:fs'
import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pLimit from 'p-limit'
import { pieceOf } from '../../../core/bytes/piece.ts'
import type { QuickReads } from './quick-reads.ts'

// Concurrent reads in threads of all readers together. Thousands of reads would fill the queue of libuv's threads and each turn of the
// event loop: health checks took 9 s. Twice the number of threads of a small machine keeps a disk busy.
const threads = pLimit(8)

/**
 * Pieces up to this size are read on demand. After a larger piece, the next one is read ahead by a thread. Files up to this size are
 * read as one piece.
 */
export const SMALL_PIECE_BYTES = 64 * 1024

/**
 * Streams a file. A piece of up to 64 KiB is read when it is requested, so no other piece is in memory. After a larger piece that a
 * thread has read, it reads the next one ahead. Closes the file at its end.
 *
 * @param file an open file
 * @param options.isPart whether bytes may follow after the last one. When false, a longer file gives more than `length`
 *   bytes
 */
export function diskPieces(
  file: number,
  {
    start,
    length,
    isPart,
    newPiece,
    signal,
    quick,
  }: {
    start: number
    length: number
    isPart: boolean
    newPiece: () => Buffer
    signal?: AbortSignal | undefined
    quick: QuickReads
  },
): Readable {
  let at = start
  const end = start + length + (isPart ? 0 : 1)
  /** Reads the next piece, empty at the end. A read that waits for its turn has no memory yet. */
  const next = async () => {
    const { read, inThreads } = quick.calls()
    const work = async () => {
      if (at >= end || stream.destroyed) return { piece: Buffer.alloc(0), inThreads }
      // After the last byte, only the end of the file is expected.
      const memory = at < start + length ? newPiece() : Buffer.alloc(1)
      const bytesRead = await read(file, memory.subarray(0, end - at), at)
      at += bytesRead
      return { piece: pieceOf(memory, bytesRead), inThreads }
    }
    if (inThreads) return threads(work)
    // A client may take bytes as fast as they are read. Others get a turn after each piece.
    if (at > start) await nextTurn()
    return work()
  }
  let reading: ReturnType<typeof next> | undefined
  const stream = new Readable({
    highWaterMark: 0,
    ...(signal ? { signal } : {}),
    async read() {
      try {
        reading ??= next()
        const { piece, inThreads } = await reading
        reading = inThreads && piece.length > SMALL_PIECE_BYTES ? next() : undefined
        // When the client disconnects, the file is closed and no caller waits for this piece.
        reading?.catch(() => {})
        stream.push(piece.length > 0 ? piece : null)
      } catch (error) {
        stream.destroy(error as Error)
      }
    },
    async destroy(error, done) {
      // Another file may get the number of this one as soon as it is closed.
      await reading?.catch(() => {})
      closeSync(file)
      done(error)
    },
  })
  return stream
}

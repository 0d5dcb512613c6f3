import type { Response } from 'express'
import type { Log } from '../core/log.ts'
import { BUSY, Problem } from '../core/problem.ts'
import { createPieceMemory, LARGE_PIECE_BYTES, SMALL_PIECE_BYTES } from './piece-memory.ts'

/** The clients that read answers of this process: what waits in memory for them, and how fast they take it. */
export interface Readers {
  /** Whether so many more bytes may wait in memory, in addition to one small piece for each reader. */
  hasRoom(bytes: number): boolean
  /**
   * Counts bytes that stay in memory until all of them are sent.
   * @returns a function that ends it
   * @throws Problem 503 when all such answers have more than 64 MiB together
   */
  hold(bytes: number): () => void
  /** Counts an answer from now on, until {@link Reader.end}. */
  begin(res: Response): Reader
}

/** One client that reads one answer. */
export interface Reader {
  /**
   * Memory for what is sent next.
   * @param isFast whether the client has taken the last piece at once
   */
  newPiece(isFast: boolean): Buffer
  /** So many bytes wait in memory until the client takes them: its time runs. */
  waits(bytes: number): void
  /** The client has taken this piece, which was waiting: its memory is used again. */
  took(piece: Buffer): void
  end(): void
}

// A fast reader gets large pieces, since each costs a few system calls. With many readers that stand still, each holds less.
const TINY_PIECE_BYTES = 16 * 1024
// Of all readers. Readers that were fast may stand still now: past this sum there are no large pieces.
const LARGE_UNTIL_BYTES = 16 * 1024 * 1024
// All of them may stop at the same moment, each with a piece that waits and one that was read ahead.
const MAX_LARGE_READERS = LARGE_UNTIL_BYTES / (2 * LARGE_PIECE_BYTES)
// Past this sum pieces are tiny.
const SMALL_UNTIL_BYTES = 32 * 1024 * 1024
// Of all answers that are stored nowhere.
const MAX_WHOLE_BYTES = 64 * 1024 * 1024

// A kernel accepts megabytes ahead of its reader, and then nothing for a while. IDLE_TIMEOUT_SECONDS is as long by default.
const PAUSE_SECONDS = 120
const LOOK_EVERY_MS = 1000

/**
 * @param minBytesPerSecond clients below it, on average after a pause of 120 s, are disconnected; 0: as slowly as they like
 * @param lookEveryMs a second of the clients' time
 */
export function createReaders({
  minBytesPerSecond,
  log,
  lookEveryMs = LOOK_EVERY_MS,
}: {
  minBytesPerSecond: number
  log: Log
  lookEveryMs?: number
}): Readers {
  const memory = createPieceMemory()
  let heldBytes = 0
  let wholeBytes = 0
  let largeReaders = 0
  const waiting = new Map<Response, { seconds: number }>()
  const mostSeconds = PAUSE_SECONDS + LARGE_PIECE_BYTES / minBytesPerSecond
  let looking: NodeJS.Timeout | undefined

  // Counts looks instead of elapsed time: while this process is blocked, it sends nothing.
  const look = () => {
    for (const [res, left] of waiting) {
      left.seconds -= 1
      if (left.seconds >= 0) continue
      waiting.delete(res)
      log.info({ minBytesPerSecond }, 'a client that reads too slowly is disconnected')
      res.destroy()
    }
    if (memory.trim() || waiting.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  return {
    hasRoom: (bytes) =>
      bytes <= SMALL_PIECE_BYTES || (bytes <= LARGE_PIECE_BYTES && heldBytes < LARGE_UNTIL_BYTES),
    hold(bytes) {
      if (wholeBytes + bytes > MAX_WHOLE_BYTES) throw tooManyHeld()
      wholeBytes += bytes
      return () => {
        wholeBytes -= bytes
      }
    },
    begin(res) {
      let bytes = 0
      let isLarge = false
      const left = { seconds: mostSeconds }
      const setLarge = (next: boolean) => {
        largeReaders += Number(next) - Number(isLarge)
        isLarge = next
      }
      const clear = () => {
        heldBytes -= bytes
        bytes = 0
        waiting.delete(res)
      }
      return {
        newPiece(isFast) {
          const mayBeLarge = isLarge || largeReaders < MAX_LARGE_READERS
          setLarge(isFast && mayBeLarge && heldBytes < LARGE_UNTIL_BYTES)
          if (isLarge) return memory.take(LARGE_PIECE_BYTES)
          return memory.take(heldBytes < SMALL_UNTIL_BYTES ? SMALL_PIECE_BYTES : TINY_PIECE_BYTES)
        },
        waits(more) {
          bytes += more
          heldBytes += more
          if (minBytesPerSecond > 0) waiting.set(res, left)
          looking ??= setInterval(look, lookEveryMs).unref()
        },
        took(piece) {
          memory.giveBack(piece)
          left.seconds = Math.min(mostSeconds, left.seconds + bytes / minBytesPerSecond)
          clear()
        },
        end() {
          setLarge(false)
          clear()
        },
      }
    },
  }
}

function tooManyHeld(): Problem {
  return new Problem({
    status: 503,
    code: 'too_many_slow_readers',
    detail: 'Too many clients read pictures that could not be stored. Retry after 5 s.',
    members: { reason: BUSY },
    headers: { 'Retry-After': '5' },
  })
}

import type { Response } from 'express'
import {
  mayBeWhole,
  mayStayUnstored,
  PIECE_BYTES,
  pieceSize,
  type ReadersMemory,
} from '../../core/budgets/memory.ts'
import type { Asset } from '../../core/bytes/asset.ts'
import { createPieceMemory } from '../../core/bytes/piece-memory.ts'
import type { Log } from '../../core/log.ts'
import { BUSY, Problem } from '../../core/problem.ts'

/** The clients that read responses of this process: how many bytes wait in memory for them, and how fast they read. */
export interface Readers {
  /** Whether this many more bytes may wait in memory, in addition to one small piece per reader. */
  hasRoom(bytes: number): boolean
  /**
   * Counts bytes that remain in memory until all of them are sent.
   * @returns a function that ends the count
   * @throws Problem 503 when all such responses together exceed 64 MiB
   */
  hold(bytes: number): () => void
  /** Counts a response from now on, until {@link Reader.end}. */
  begin(res: Response): Reader
}

/** One client that reads one response. */
export interface Reader {
  /**
   * Memory for the next piece.
   * @param isFast whether the client has read the last piece at once
   */
  newPiece(isFast: boolean): Buffer
  /** These bytes wait in memory until the client reads them. Its time runs. */
  waits(bytes: number): void
  /** The client has read this piece. Its memory is reused. */
  took(piece: Buffer): void
  end(): void
}

// A kernel accepts megabytes ahead of its reader, and then nothing for a while. IDLE_TIMEOUT_SECONDS has the same default.
const PAUSE_SECONDS = 120
const LOOK_EVERY_MS = 1000

/**
 * @param options.minBytesPerSecond clients that read more slowly, on average after a pause of 120 s, are disconnected;
 *   0: no minimum
 * @param options.lookEveryMs interval of checks; each counts as one second of a client's time
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
  const held: ReadersMemory = { waitingBytes: 0, largeReaders: 0, unstoredBytes: 0 }
  const waiting = new Map<Response, { seconds: number }>()
  const mostSeconds = PAUSE_SECONDS + PIECE_BYTES.large / minBytesPerSecond
  let looking: NodeJS.Timeout | undefined

  // Counts checks instead of elapsed time: while this process is blocked, it sends nothing.
  const look = () => {
    for (const [res, left] of waiting) {
      left.seconds -= 1
      if (left.seconds >= 0) continue
      waiting.delete(res)
      log.info({ minBytesPerSecond }, 'disconnected a client that reads too slowly')
      res.destroy()
    }
    if (memory.trim() || waiting.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  return {
    hasRoom: (bytes) => mayBeWhole(bytes, held),
    hold(bytes) {
      if (!mayStayUnstored(bytes, held)) throw tooManyHeld()
      held.unstoredBytes += bytes
      return () => {
        held.unstoredBytes -= bytes
      }
    },
    begin(res) {
      let bytes = 0
      let isLarge = false
      const left = { seconds: mostSeconds }
      const setLarge = (next: boolean) => {
        held.largeReaders += Number(next) - Number(isLarge)
        isLarge = next
      }
      const clear = () => {
        held.waitingBytes -= bytes
        bytes = 0
        waiting.delete(res)
      }
      return {
        newPiece(isFast) {
          const size = pieceSize(held, { isFast, hasLarge: isLarge })
          setLarge(size === 'large')
          return memory.take(PIECE_BYTES[size])
        },
        waits(more) {
          bytes += more
          held.waitingBytes += more
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
    detail: 'Too many slow clients are reading images that are not stored. Retry after 5 s.',
    members: { reason: BUSY },
    headers: { 'Retry-After': '5' },
  })
}

/**
 * Counts a response whose bytes are only in memory and not stored: from now on, or from the moment when storing them has
 * failed. If the memory limit is exceeded at that later moment, the client is disconnected.
 *
 * All bytes count, even when only a part of them is sent.
 *
 * @param options `isHeld`: it is already known that the bytes will not be stored
 * @returns a function that ends the count
 * @throws Problem 503 when all such responses together exceed the limit
 */
export function holdResponse(
  res: Response,
  { asset, isHeld = false, readers }: { asset: Asset; isHeld?: boolean | undefined; readers: Readers },
): () => void {
  if (isHeld) return readers.hold(asset.size)
  let end = () => {}
  let isBegun = false
  const remove = asset.onNotStored?.(() => {
    try {
      end = readers.hold(asset.size)
    } catch (error) {
      if (!isBegun) throw error
      res.destroy()
    }
  })
  isBegun = true
  return () => {
    remove?.()
    end()
  }
}

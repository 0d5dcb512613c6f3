import { randomBytes } from 'node:crypto'
import { type FileHandle, open, stat, statfs, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log } from '../../core/log.ts'
import { storageFull } from '../../core/problem.ts'
import { isFull } from '../../core/storage/full-disk.ts'

/**
 * A file that reserves space on a disk. It is shrunk in steps, so that deletes and the opening of stores work on a full
 * disk.
 */
export interface DiskReserve {
  /**
   * Runs work that deletes, or opens a store. When the disk is full, the reserve is shrunk by one step and the work runs
   * again. @throws Problem 503 storage_full when the reserve is empty
   */
  forced<T>(work: () => Promise<T>): Promise<T>
  /** False while the reserve is smaller than its full size because of `forced`. */
  isIntact(): boolean
  /**
   * Resolves when an ordinary write may begin: at once while the reserve is intact. Otherwise the reserve is restored
   * first. @throws Problem 503 storage_full while there is no space for it
   */
  restored(): Promise<void>
  /** Fills the file in the background, now and whenever it is too small and there is space. */
  fillUp(): void
  /** Stops its timer and its writes. The file remains. */
  close(): Promise<void>
}

/** For installations without a reserve: a full disk refuses deletes as well. */
export const NO_RESERVE: DiskReserve = {
  forced: (work) => work(),
  isIntact: () => true,
  async restored() {},
  fillUp() {},
  async close() {},
}

// The space that the opening of a store needs: the tables of two write buffers of 4 MB.
const STEP_BYTES = 8 * 1024 * 1024
// Space that must remain for ordinary writes after the reserve was filled.
const MARGIN_BYTES = STEP_BYTES
const PIECE_BYTES = 1024 * 1024
const TRY_EVERY_MS = 10_000

/**
 * The reserve of a folder that belongs to this process.
 *
 * @param options.path the file
 * @param options.bytes its size when complete; a file of another size is completed, never shortened
 */
export async function diskReserve({
  path,
  bytes,
  log,
  tryEveryMs = TRY_EVERY_MS,
}: {
  path: string
  bytes: number
  log: Log
  tryEveryMs?: number
}): Promise<DiskReserve> {
  let size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  let isGivenUp = false
  let closed = false
  let filling: Promise<void> | undefined
  let giving: Promise<boolean> | undefined

  async function fillOnce(): Promise<void> {
    if (size >= bytes) return
    const { bavail, bsize } = await statfs(dirname(path))
    if (bavail * bsize < bytes - size + MARGIN_BYTES) throw storageFull(undefined)
    const before = size
    const file = await open(path, 'a', 0o600)
    try {
      await append(file)
    } catch (error) {
      // A partial reserve would take space from files and would not suffice.
      size = before
      await file.truncate(before)
      throw isFull(error) ? storageFull(error) : error
    } finally {
      await file.close()
    }
  }

  async function append(file: FileHandle): Promise<void> {
    // Random bytes: a file system that compresses would store zeros without using any room.
    const piece = randomBytes(Math.min(PIECE_BYTES, bytes - size))
    while (size < bytes && !closed && !giving) {
      const { bytesWritten } = await file.write(piece, 0, Math.min(piece.length, bytes - size))
      size += bytesWritten
    }
  }

  function fill(): Promise<void> {
    filling ??= fillOnce().finally(() => {
      filling = undefined
    })
    return filling
  }

  /** @returns false when the reserve is already empty */
  async function giveUp(): Promise<boolean> {
    await filling?.catch(() => {})
    if (size === 0) return false
    isGivenUp = true
    size = Math.max(0, size - STEP_BYTES)
    await truncate(path, size)
    log.warn(
      { reserveBytes: size },
      'disk full: a part of the reserve was released, so that deletes and starts work',
    )
    return true
  }

  async function restored(): Promise<void> {
    if (!isGivenUp) return
    await fill()
    if (size < bytes || giving !== undefined) throw storageFull(undefined)
    if (isGivenUp) log.info({ reserveBytes: size }, 'the disk has space again: the reserve was restored')
    isGivenUp = false
  }

  // Not logged: `restored` throws the same error to each write.
  const tryAgain = () => void (isGivenUp ? restored() : fill()).catch(() => {})
  let timer: NodeJS.Timeout | undefined

  return {
    async forced(work) {
      for (;;) {
        const before = size
        try {
          return await work()
        } catch (error) {
          if (!isFull(error)) throw error
          // Many calls fail at the same time: one step serves all of them.
          giving ??= (size < before && !filling ? Promise.resolve(true) : giveUp()).finally(() => {
            giving = undefined
          })
          if (!(await giving)) throw storageFull(error)
        }
      }
    },
    isIntact: () => !isGivenUp,
    restored,
    fillUp() {
      tryAgain()
      timer = setInterval(tryAgain, tryEveryMs).unref()
    },
    async close() {
      closed = true
      clearInterval(timer)
      await filling?.catch(() => {})
    },
  }
}

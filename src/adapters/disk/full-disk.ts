import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { STORAGE_FULL, storageFull, unavailable } from '../../core/problem.ts'

// LevelDB reports these without an error code of the system.
const FULL = /No space left on device|Disk quota exceeded|File too large/

/** No space, no quota, or a file larger than this process may write; also when that is the cause. */
export function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '' } = error as NodeJS.ErrnoException
  return (
    ['ENOSPC', 'EDQUOT', 'EFBIG', STORAGE_FULL].includes(code) ||
    FULL.test(error.message) ||
    isFull(error.cause)
  )
}

/** What a failed write means to the caller: a 503 when the disk is full or read-only; any other error as it is. */
export function writeProblem(error: unknown): unknown {
  if (isFull(error)) return storageFull(error)
  const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS'
  return isReadOnly ? unavailable('The storage is read-only.', { cause: error }) : error
}

/**
 * Tries whether a file of so many bytes can be written: no question to the system knows of every quota and limit.
 *
 * @throws Problem 503 storage_full
 */
export async function makeSureOfRoom(folder: string, bytes: number): Promise<void> {
  const path = join(folder, 'room')
  try {
    const file = await open(path, 'w', 0o600)
    try {
      await file.writeFile(Buffer.alloc(bytes))
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (error) {
    throw writeProblem(error)
  } finally {
    await rm(path, { force: true })
  }
}

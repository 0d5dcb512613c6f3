import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { STORAGE_FULL, storageFull, unavailable } from '../../core/problem.ts'

// LevelDB reports these without an error code of the system.
const FULL = /No space left on device|Disk quota exceeded|File too large/

/** Whether the error, or a cause of it, means: no space, no quota, or a file larger than this process may write. */
export function isFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const { code = '' } = error as NodeJS.ErrnoException
  return (
    ['ENOSPC', 'EDQUOT', 'EFBIG', STORAGE_FULL].includes(code) ||
    FULL.test(error.message) ||
    isFull(error.cause)
  )
}

/** Converts the error of a failed write for the caller: 503 when the disk is full or read-only, else the error itself. */
export function writeProblem(error: unknown): unknown {
  if (isFull(error)) return storageFull(error)
  const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS'
  return isReadOnly ? unavailable('the storage is read-only at the moment', { cause: error }) : error
}

/**
 * Checks by writing that a file of this size can be written: no system call reports every quota and limit.
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

import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storageFull, unavailable } from '../../core/problem.ts'
import { isFull } from '../../core/storage/full-disk.ts'

/** Converts the error of a failed write for the caller: 503 when the disk is full or read-only, else the error itself. */
export function writeProblem(error: unknown): unknown {
  if (isFull(error)) return storageFull(error)
  const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS'
  return isReadOnly ? unavailable('The storage is read-only.', { cause: error }) : error
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

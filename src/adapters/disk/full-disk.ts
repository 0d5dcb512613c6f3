import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storageFull, unavailable } from '../../core/problem.ts'
import { isFull } from '../../core/storage/full-disk.ts'

/** What a failed write means to the caller: a 503 when the disk is full or read-only; any other error as it is. */
export function writeProblem(error: unknown): unknown {
  if (isFull(error)) return storageFull(error)
  const isReadOnly = (error as NodeJS.ErrnoException).code === 'EROFS'
  return isReadOnly ? unavailable('the storage is read-only at the moment', { cause: error }) : error
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

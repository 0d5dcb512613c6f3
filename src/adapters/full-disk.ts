import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { storageFull } from '../core/problem.ts'

/** No space, no quota, or a file larger than this process may write. */
export function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EFBIG'].includes((error as NodeJS.ErrnoException).code ?? '')
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
    throw isFull(error) ? storageFull(error) : error
  } finally {
    await rm(path, { force: true })
  }
}

import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import type { DiskReserve } from './disk-reserve.ts'

/** Whether files can be stored on a disk. */
export type DiskState = 'ok' | 'full' | 'read_only'

// Less than a record, its folder and a row of the index take.
const LEAST_BYTES = 256 * 1024

/** The state of the disk on which a folder is. It is full also while a part of the reserve is given up. */
export async function diskState(folder: string, reserve: DiskReserve): Promise<DiskState> {
  try {
    await access(folder, constants.W_OK)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EROFS') return 'read_only'
    throw error
  }
  const isIntact = await reserve.restored().then(
    () => true,
    () => false,
  )
  if (!isIntact) return 'full'
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize < LEAST_BYTES ? 'full' : 'ok'
}

import { constants } from 'node:fs'
import { access, statfs } from 'node:fs/promises'
import type { DiskReserve } from './disk-reserve.ts'

/** Whether files can be stored on a disk. */
export type DiskState = 'ok' | 'full' | 'read_only'

// A record, its folder and a row of the index need more than this.
const LEAST_BYTES = 256 * 1024

/** The worst state of the disks of these folders. `full` also means that the reserve is not restored yet. */
export async function diskState(folders: readonly string[], reserve: DiskReserve): Promise<DiskState> {
  const states = await Promise.all(folders.map(stateOf))
  if (states.includes('read_only')) return 'read_only'
  const isIntact = await reserve.restored().then(
    () => true,
    () => false,
  )
  return isIntact && !states.includes('full') ? 'ok' : 'full'
}

async function stateOf(folder: string): Promise<DiskState> {
  try {
    await access(folder, constants.W_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EROFS') return 'read_only'
    // A missing folder is reported by the check of the bucket.
    if (code === 'ENOENT') return 'ok'
    throw error
  }
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize < LEAST_BYTES ? 'full' : 'ok'
}

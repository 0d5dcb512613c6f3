import { execFile } from 'node:child_process'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from '../temporary-folder.ts'

const run = promisify(execFile)

/** A file system in memory that can be filled. */
export interface SmallDisk {
  folder: string
  /** Leaves no byte of it free. */
  fill(): Promise<void>
  /** Takes back what `fill` has written. */
  makeRoom(): Promise<void>
  freeBytes(): Promise<number>
  makeReadOnly(): Promise<void>
  remove(): Promise<void>
}

/** @throws where this user may not mount one: root may */
export async function smallDisk({ bytes }: { bytes: number }): Promise<SmallDisk> {
  const folder = await temporaryFolder()
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'none', folder])
  } catch (error) {
    await rm(folder, { recursive: true })
    throw error
  }
  const filler = join(folder, 'filler')
  return {
    folder,
    async fill() {
      const file = await open(filler, 'a')
      const page = Buffer.alloc(4096)
      try {
        for (;;) await file.write(page)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      } finally {
        await file.close()
      }
    },
    makeRoom: () => rm(filler),
    async freeBytes() {
      const { bavail, bsize } = await statfs(folder)
      return bavail * bsize
    },
    makeReadOnly: async () => void (await run('mount', ['-o', 'remount,ro', folder])),
    async remove() {
      await run('umount', ['-l', folder])
      await rm(folder, { recursive: true })
    },
  }
}

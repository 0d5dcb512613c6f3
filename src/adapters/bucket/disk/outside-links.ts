import { lstat, opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './folders.ts'

/**
 * Checks that a folder of another program, down to two levels, has no symbolic links: a file that is stored there would be stored at
 * another place.
 *
 * @throws Error that names the link
 */
export async function refuseLinks(folder: string, levels = 2): Promise<void> {
  for await (const entry of (await unlessMissing(opendir(folder))) ?? []) {
    const path = join(folder, entry.name)
    if (entry.isSymbolicLink())
      throw new Error(`${path} is a symbolic link. Remove it: a backup has only files and folders`)
    if (levels > 1 && entry.isDirectory()) await refuseLinks(path, levels - 1)
  }
}

/** @throws Error when it is not a folder */
export async function requireFolder(path: string): Promise<void> {
  const found = await unlessMissing(lstat(path))
  if (found?.isDirectory() || found?.isSymbolicLink()) return
  throw new Error(`${path} is not a folder. Create it first, or mount its disk`)
}

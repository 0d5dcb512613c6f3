import { lstat, opendir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './folders.ts'

/**
 * Checks that the named subfolders of a folder, and those in them, are no symbolic links: a file that is stored there would be stored
 * at another place.
 *
 * @throws Error that names the link
 */
export async function refuseLinks(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const path = join(folder, name)
    if ((await unlessMissing(lstat(path)))?.isSymbolicLink()) throw linked(path)
    for await (const entry of (await unlessMissing(opendir(path))) ?? [])
      if (entry.isSymbolicLink()) throw linked(join(path, entry.name))
  }
}

function linked(path: string): Error {
  return new Error(`${path} is a symbolic link. Remove it: a backup has only files and folders`)
}

/** @throws Error when it is not a folder */
export async function requireFolder(path: string): Promise<void> {
  const found = await unlessMissing(lstat(path))
  if (found?.isDirectory() || found?.isSymbolicLink()) return
  throw new Error(`${path} is not a folder. Create it first, or mount its disk`)
}

/** @throws Error when the disk ignores the case of names: files would replace each other */
export async function requireCase(folder: string): Promise<void> {
  const path = join(folder, '.sluice-Case')
  await writeFile(path, '')
  try {
    if (await unlessMissing(lstat(join(folder, '.sluice-case'))))
      throw new Error(`${folder} does not distinguish upper and lower case. Choose another disk`)
  } finally {
    await rm(path, { force: true })
  }
}

import { mkdir, open, opendir, rename, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

// How often a folder may be removed between its making and its first file.
const FOLDER_ATTEMPTS = 10

/** Renames and flushes the folder, which a delete that empties it may remove under our hands, before and after. */
export async function renameInto(temporary: string, path: string, root: string): Promise<void> {
  const folder = dirname(path)
  let made = false
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (await mkdir(folder, { recursive: true, mode: 0o700 })) made = true
      await rename(temporary, path)
      break
    } catch (error) {
      if (!isMissing(error) || attempt === FOLDER_ATTEMPTS) throw error
    }
  }
  // From here on the file is stored: when its folder is missing, it has been deleted since.
  await unlessMissing(flushFolder(folder))
  if (made) await flushParents(folder, root)
}

/** A new folder's name is an entry of its parent, which has to be flushed as well; the root is a new folder once. */
async function flushParents(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length >= root.length; folder = dirname(folder))
    await unlessMissing(flushFolder(dirname(folder)))
}

/** Makes sure that what has come into a folder, or gone from it, outlives a power cut. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes a folder, and those above it up to `root`, as far as nothing is in them. */
export async function removeEmptyFolders(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder)
    } catch {
      // Not empty: somebody else's files are in it.
      return
    }
  }
}

/**
 * The paths of all files below a folder. Piece by piece: a folder of 100,000 files read at once would hold the event loop
 * for a quarter of a second.
 */
export async function* walk(folder: string): AsyncGenerator<string> {
  const entries = await unlessMissing(opendir(folder, { bufferSize: 256 }))
  if (!entries) return
  for await (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* walk(path)
    else if (entry.isFile()) yield path
  }
}

/**
 * The outcome, or undefined when there is no such file: also when a folder of its path is a file, or has a name of more
 * than the 255 bytes that a disk takes.
 */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG') return undefined
    throw error
  }
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

import { mkdir, open, opendir, rename, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

// How often a folder may be removed between its making and its first file.
const FOLDER_ATTEMPTS = 10

/**
 * Renames into a folder that need not be there yet, and that a delete which empties it may remove under our hands.
 * @returns whether the folder, or one above it, had to be made
 */
export async function renameInto(temporary: string, path: string): Promise<boolean> {
  let missing = false
  let made = false
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (missing && (await mkdir(dirname(path), { recursive: true, mode: 0o700 }))) made = true
      await rename(temporary, path)
      return made
    } catch (error) {
      if (!isMissing(error) || attempt === FOLDER_ATTEMPTS) throw error
      missing = true
    }
  }
}

/**
 * Makes sure that a file which has been renamed to this path outlives a power cut: by then it is stored, and when a folder
 * of it is missing, it has been deleted since.
 * @param made whether a folder is new: its name is an entry of its parent, which has to be flushed as well, up to the root,
 *   itself a new folder once
 */
export async function flushUpTo(
  path: string,
  { made, root }: { made: boolean; root: string },
): Promise<void> {
  const first = dirname(path)
  await unlessMissing(flushFolder(first))
  if (!made) return
  for (let folder = first; folder.length >= root.length; folder = dirname(folder))
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

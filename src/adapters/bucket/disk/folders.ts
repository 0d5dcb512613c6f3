import { link, mkdir, open, opendir, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

// How often another process may remove the folder between mkdir and rename.
const FOLDER_ATTEMPTS = 10

/**
 * Renames a file into a folder that may not exist yet.
 * @returns whether the folder, or a parent of it, had to be created
 */
export function renameInto(
  temporary: string,
  path: string,
  { rename }: { rename: (from: string, to: string) => void | Promise<void> },
): Promise<boolean> {
  return placeInto(path, () => rename(temporary, path))
}

/** Adds a second name of a file, as {@link renameInto}. @throws Error EEXIST, and where the file system has no hard links */
export function linkInto(existing: string, path: string): Promise<boolean> {
  return placeInto(path, () => link(existing, path))
}

/** Places a file into a folder that may not exist yet. A concurrent delete may remove the folder when it becomes empty. */
async function placeInto(path: string, place: () => void | Promise<void>): Promise<boolean> {
  let missing = false
  let made = false
  for (let attempt = 1; ; attempt += 1) {
    try {
      if (missing && (await mkdir(dirname(path), { recursive: true, mode: 0o700 }))) made = true
      await place()
      return made
    } catch (error) {
      if (!isMissing(error) || attempt === FOLDER_ATTEMPTS) throw error
      missing = true
    }
  }
}

/**
 * Makes a file that was renamed to this path durable: it survives a power cut. A folder that is missing was deleted
 * since then, with the file.
 * @param made whether a folder is new. The name of a new folder is an entry of its parent, so the parents are flushed
 *   too, up to and including the parent of `root`
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

/** Makes the entries of a folder durable: added and removed names survive a power cut. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

/** Removes a folder and its parents below `root`, as long as they are empty. */
export async function removeEmptyFolders(path: string, root: string): Promise<void> {
  for (let folder = path; folder.length > root.length; folder = dirname(folder)) {
    try {
      await rmdir(folder)
    } catch {
      // Not empty: it contains other files.
      return
    }
  }
}

/**
 * Yields the paths of all files below a folder. It reads 256 entries at a time: a folder of 100,000 files read at once
 * would block the event loop for a quarter of a second.
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
 * The result of `work`, or undefined when the file does not exist. A file also does not exist when a folder of its path
 * is a file, or when a name is longer than 255 bytes, the maximum of a disk.
 */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (meansMissing(error)) return undefined
    throw error
  }
}

/** Whether an error of the system means that the file does not exist: see {@link unlessMissing}. */
export function meansMissing(error: unknown): boolean {
  return isMissing(error) || (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG'
}

function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'ENOENT' || code === 'ENOTDIR'
}

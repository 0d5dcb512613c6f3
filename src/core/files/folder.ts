import type { ObjectKey } from './object-key.ts'

// An original's key ends with its group, its format and its source name.
const SEGMENTS_AFTER_FOLDER = 3

/** The folder of an original: without slashes at its ends, empty for no folder. */
export function folderOfKey(key: ObjectKey): string {
  return key.split('/').slice(0, -SEGMENTS_AFTER_FOLDER).join('/')
}

/** The folder that contains a folder; empty for a folder at the top. */
export function parentFolder(folder: string): string {
  return folder.slice(0, Math.max(0, folder.lastIndexOf('/')))
}

/** The last segment of a folder. */
export function folderName(folder: string): string {
  return folder.slice(folder.lastIndexOf('/') + 1)
}

/** A folder and all folders around it, from the inside out. The last one is empty: the top. */
export function enclosingFolders(folder: string): string[] {
  const all = [folder]
  for (let one = folder; one !== ''; all.push(one)) one = parentFolder(one)
  return all
}

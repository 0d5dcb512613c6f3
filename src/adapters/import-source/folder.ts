import type { Dirent } from 'node:fs'
import { opendir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { ImportItem, ImportSource, RefusedItem } from '../../core/imports/source.ts'
import { bytesOfVersion, openRegular } from './file-bytes.ts'

/**
 * All files below a folder. Hidden files and folders are ignored. A symbolic link to a file within the folder is
 * followed. Other links and special files are refused.
 *
 * @param options.dataDir the service's own folder. It is refused: it has secrets, and an import adds files to it
 */
export function folderSource(path: string, { dataDir }: { dataDir: string }): ImportSource {
  return {
    async *items(signal) {
      const root = await realpath(path)
      const excluded = await realpath(dataDir).catch(() => dataDir)
      if (isWithin(root, excluded)) throw new Error(`${path} ${IN_DATA_DIR}`)
      yield* itemsBelow(root, { root, excluded, signal })
    },
  }
}

const IN_DATA_DIR = 'is in DATA_DIR, the folder of the service itself'

/** The imported folder, and the one that is refused: real paths. */
interface Place {
  root: string
  excluded: string
}

async function* itemsBelow(
  folder: string,
  { signal, ...place }: Place & { signal: AbortSignal },
): AsyncGenerator<ImportItem | RefusedItem> {
  const { root, excluded } = place
  for await (const entry of entriesOf(folder)) {
    signal.throwIfAborted()
    if (entry instanceof Error) {
      if (folder === root) throw entry
      yield { from: relative(root, folder), refused: entry.message }
      continue
    }
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (path === excluded) yield { from: relative(root, path), refused: IN_DATA_DIR }
    else if (entry.isDirectory()) yield* itemsBelow(path, { ...place, signal })
    else yield await itemOf(path, { ...place, entry })
  }
}

/** The entries of a folder, then an error when it cannot be read, or not to its end. */
async function* entriesOf(folder: string): AsyncGenerator<Dirent | Error> {
  try {
    // 256 entries at a time, so that a large folder does not block the event loop.
    yield* await opendir(folder, { bufferSize: 256 })
  } catch (error) {
    yield error as Error
  }
}

async function itemOf(path: string, { root, excluded, entry }: Place & { entry: Dirent }) {
  const from = relative(root, path).split(sep).join('/')
  try {
    if (!entry.isFile() && !entry.isSymbolicLink()) return { from, refused: 'not a regular file' }
    const target = entry.isSymbolicLink() ? await realpath(path) : path
    if (!isWithin(target, root)) return { from, refused: 'a symbolic link that leaves the folder' }
    if (isWithin(target, excluded)) return { from, refused: IN_DATA_DIR }
    const file = await openRegular(target)
    const found = await file.stat().finally(() => file.close())
    if (!found.isFile()) return { from, refused: 'not a regular file' }
    return {
      from,
      identity: `file ${root} ${from} ${found.size} ${found.mtimeMs}`,
      name: basename(path),
      folder: from.includes('/') ? dirname(from) : '',
      annotations: { tags: [], metadata: {} },
      size: found.size,
      content: { open: (signal: AbortSignal) => bytesOfVersion(target, found, signal) },
    }
  } catch (error) {
    return { from, refused: (error as Error).message }
  }
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)
}

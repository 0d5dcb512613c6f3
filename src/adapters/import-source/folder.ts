import { constants, type Dirent } from 'node:fs'
import { type FileHandle, open, opendir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, sep } from 'node:path'
import type { Readable } from 'node:stream'
import type { ImportItem, ImportSource, RefusedItem } from '../../core/imports/source.ts'

/**
 * All files below a folder. Hidden files and folders are ignored. A symbolic link to a file within the folder is
 * followed. Other links and special files are refused.
 */
export function folderSource(path: string): ImportSource {
  return {
    async *items(signal) {
      const root = await realpath(path)
      yield* itemsBelow(root, { root, signal })
    },
  }
}

async function* itemsBelow(
  folder: string,
  { root, signal }: { root: string; signal: AbortSignal },
): AsyncGenerator<ImportItem | RefusedItem> {
  // 256 entries at a time, so that a large folder does not block the event loop.
  const entries = await opendir(folder, { bufferSize: 256 }).catch((error: Error) => error)
  if (entries instanceof Error) {
    if (folder === root) throw entries
    yield { from: relative(root, folder), refused: entries.message }
    return
  }
  for await (const entry of entries) {
    signal.throwIfAborted()
    if (entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* itemsBelow(path, { root, signal })
    else yield await itemOf(path, { root, entry })
  }
}

async function itemOf(path: string, { root, entry }: { root: string; entry: Dirent }) {
  const from = relative(root, path).split(sep).join('/')
  try {
    if (!entry.isFile() && !entry.isSymbolicLink()) return { from, refused: 'not a regular file' }
    const target = entry.isSymbolicLink() ? await realpath(path) : path
    if (target !== root && !target.startsWith(`${root}${sep}`))
      return { from, refused: 'a symbolic link that leaves the folder' }
    const file = await opened(target)
    const found = await file.stat().finally(() => file.close())
    if (!found.isFile()) return { from, refused: 'not a regular file' }
    return {
      from,
      identity: `file ${root} ${from} ${found.size} ${found.mtimeMs}`,
      name: basename(path),
      folder: from.includes('/') ? dirname(from) : '',
      annotations: { tags: [], metadata: {} },
      size: found.size,
      content: { open: (signal: AbortSignal) => streamOf(target, signal) },
    }
  } catch (error) {
    return { from, refused: (error as Error).message }
  }
}

/** A link that replaces the file after the check above is refused. A FIFO does not block. */
function opened(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
}

async function streamOf(path: string, signal: AbortSignal): Promise<Readable> {
  const file = await opened(path)
  return file.createReadStream({ signal })
}

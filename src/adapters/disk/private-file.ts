import { type FileHandle, open, readFile, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { unwritable } from './data-dir.ts'

/** The text of a file; undefined when the file does not exist. */
export async function readPrivateFile(file: string): Promise<string | undefined> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}

/**
 * Replaces the content of a file of DATA_DIR atomically. The file is readable by its owner only, and durable when this
 * resolves.
 *
 * @throws DataDirError
 */
export async function savePrivateFile(file: string, text: string): Promise<void> {
  await save(file, text).catch((cause) => {
    throw unwritable(dirname(file), cause)
  })
}

async function save(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`
  await unlink(temporary).catch(() => {})
  await withHandle(await open(temporary, 'wx', 0o600), async (handle) => {
    await handle.writeFile(text)
    await handle.sync()
  })
  await rename(temporary, file)
  await withHandle(await open(dirname(file), 'r'), (folder) => folder.sync())
}

async function withHandle(handle: FileHandle, work: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await work(handle)
  } finally {
    await handle.close()
  }
}

import { open, rename } from 'node:fs/promises'
import type { Log } from '../../core/log.ts'

// A missing file of these is damage. The lock file or the folder may be missing because the path is wrong.
const MISSING = /\/(?:MANIFEST-\d+|\d+\.(?:ldb|sst)): No such file or directory$/
const UNREADABLE_TABLE = /^IO error: (.+\/\d+\.(?:ldb|sst)): Invalid argument$/
// The last bytes of each table in LevelDB's format.
const TABLE_END = Buffer.from('57fb808b247547db', 'hex')

/**
 * Whether LevelDB cannot read its own files: a block with a wrong checksum or without JSON, a missing or truncated table,
 * or a missing manifest. Other disk errors are no damage: they may be temporary, or the path or the file system is wrong.
 */
export async function isDamage(error: unknown): Promise<boolean> {
  if (!(error instanceof Error)) return false
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'LEVEL_CORRUPTION' || code === 'LEVEL_DECODE_ERROR') return true
  if (code === 'LEVEL_IO_ERROR') return MISSING.test(message) || (await namesCutTable(message))
  return isDamage(error.cause)
}

/** LevelDB reports a truncated table as an invalid argument. A file system that cannot map an intact one does the same. */
async function namesCutTable(message: string): Promise<boolean> {
  const path = UNREADABLE_TABLE.exec(message)?.[1]
  if (path === undefined) return false
  const file = await open(path).catch(() => undefined)
  if (!file) return false
  try {
    const { size } = await file.stat()
    if (size < TABLE_END.length) return true
    const { buffer } = await file.read(Buffer.alloc(TABLE_END.length), { position: size - TABLE_END.length })
    return !buffer.equals(TABLE_END)
  } catch {
    return false
  } finally {
    await file.close()
  }
}

/** Moves a closed store aside, so that an empty one can be created in its folder. */
export async function moveAside(
  folder: string,
  { error, log, message }: { error: unknown; log: Log; message: string },
): Promise<void> {
  const movedTo = `${folder}.damaged-${new Date().toISOString().replaceAll(':', '-')}`
  await rename(folder, movedTo)
  log.error({ err: error, movedTo }, message)
}

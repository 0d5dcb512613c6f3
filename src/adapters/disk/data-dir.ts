import { constants, existsSync } from 'node:fs'
import { access, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { joinedMessages } from '../../core/log-reason.ts'
import { isFull } from '../../core/storage/full-disk.ts'
import { NO_RESERVE } from './disk-reserve.ts'

/** The data folder is in use by another process, or cannot be used. The message is for the operator. */
export class DataDirError extends Error {
  override name = 'DataDirError'
}

const HOLDER = 'holder.json'
// Exists while the state of the folder is also in Redis.
const COPIED = 'copied-to-redis'

/**
 * The layout of the stores in a data folder: index, jobs, ledger, usage, and logs. Increase it when an older version would misread or
 * damage one of them. A folder without it has layout 1.
 */
export const DATA_LAYOUT = 1

/** Creates the folder, readable by its owner only. @throws DataDirError */
export async function makeDataDir(folder: string): Promise<void> {
  try {
    await makeFolders(folder)
  } catch (cause) {
    throw (
      knownCause(folder, cause) ??
      new DataDirError(`DATA_DIR ${folder} cannot be created: ${(cause as Error).message}`, { cause })
    )
  }
}

/**
 * Creates the folder, and checks that this process may create files in it, before the first store fails.
 * @throws DataDirError, also for the layout of a newer version
 */
export async function openDataDir(folder: string): Promise<void> {
  await makeDataDir(folder)
  try {
    await access(folder, constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unwritable(folder, cause)
  }
  const { layout = 1 } = await readHolder(folder)
  if (layout > DATA_LAYOUT)
    throw new DataDirError(
      `DATA_DIR ${folder} has the layout ${layout} of a newer version. This version supports layout ${DATA_LAYOUT}: start the newer version.`,
    )
}

/** The error for an operator when a file of the folder cannot be written. */
export function unwritable(folder: string, cause: unknown): DataDirError {
  return (
    knownCause(folder, cause) ??
    new DataDirError(`DATA_DIR ${folder} cannot be written to: ${joinedMessages(cause)}`, { cause })
  )
}

/** The error and its remedy for failures that the operator can fix. LevelDB reports them only as text. Undefined for others. */
function knownCause(folder: string, cause: unknown): DataDirError | undefined {
  const text = joinedMessages(cause)
  const of = (what: string) =>
    new DataDirError(`DATA_DIR ${folder} ${what} or set another DATA_DIR`, { cause })
  if (isFull(cause)) return of('is on a full disk; free some space')
  if (/read-only file system/i.test(text)) return of('is on a read-only file system; mount it writable')
  if (/permission denied|operation not permitted/i.test(text))
    return of(
      `cannot be written to by user ID ${process.getuid?.()}; give that user the folder and its files`,
    )
  return undefined
}

/** Without `recursive`: that option retries without end for a folder that the system never creates, as under /proc. */
async function makeFolders(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && (await stat(folder)).isDirectory()) return
    if (code !== 'ENOENT' || (await stat(dirname(folder)).catch(() => undefined))) throw error
    await makeFolders(dirname(folder))
    await makeFolders(folder)
  }
}

/**
 * Records the layout, and which process uses the folder, for the error message of another process. The lock of the index is what
 * excludes others.
 *
 * @param reserve the reserve of the folder's disk
 * @throws DataDirError
 */
export async function signDataDir(folder: string, baseUrl: string, reserve = NO_RESERVE): Promise<void> {
  const since = new Date().toISOString()
  const holder: Holder = { pid: process.pid, baseUrl, since, layout: DATA_LAYOUT }
  const text = `${JSON.stringify(holder)}\n`
  try {
    await reserve.forced(() => writeFile(join(folder, HOLDER), text, { mode: 0o600 }))
    // From now on, the state changes only here.
    await rm(join(folder, COPIED), { force: true })
  } catch (cause) {
    throw unwritable(folder, cause)
  }
}

/**
 * The error for an operator when the index or the jobs cannot be opened.
 * @param options.error of LevelDB; its cause has the reason
 */
export function storeUnusable(folder: string, { name, error }: { name: string; error: Error }): DataDirError {
  const known = knownCause(folder, error)
  if (known) return known
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new DataDirError(`the ${name} in DATA_DIR ${folder} cannot be opened: ${reason}`, { cause: error })
}

/** The error for an operator when another process uses the folder. */
export async function dataDirTaken(folder: string, cause: unknown): Promise<DataDirError> {
  const { pid, baseUrl, since } = await readHolder(folder)
  const holder = pid === undefined ? 'another process' : `process ${pid}, at ${baseUrl} since ${since}`
  return new DataDirError(
    `DATA_DIR ${folder} is in use by ${holder}; stop that one or set another DATA_DIR`,
    { cause },
  )
}

/** Whether a data folder has the state of a service without Redis, such as used links, that `sluice migrate-state` has not copied. */
export function hasUncopiedState(folder: string): boolean {
  return existsSync(join(folder, 'ledger')) && !existsSync(join(folder, COPIED))
}

/** Notes that the state of a data folder was copied to Redis. */
export async function noteCopied(folder: string): Promise<void> {
  await writeFile(join(folder, COPIED), `${new Date().toISOString()}\n`, { mode: 0o600 })
}

/** The process that uses a data folder, or was the last one. */
interface Holder {
  pid: number
  baseUrl: string
  /** ISO 8601. */
  since: string
  layout: number
}

/** Empty while no process has written the file completely, or when it cannot be read. */
async function readHolder(folder: string): Promise<Partial<Holder>> {
  try {
    return JSON.parse(await readFile(join(folder, HOLDER), 'utf8')) ?? {}
  } catch {
    return {}
  }
}

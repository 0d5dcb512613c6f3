import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/** A data folder that another process holds, or that cannot be used; the message is for the operator. */
export class DataDirError extends Error {
  override name = 'DataDirError'
}

const HOLDER = 'holder.json'

/** Makes the folder, readable by its owner only. @throws DataDirError */
export async function makeDataDir(folder: string): Promise<void> {
  try {
    await makeFolders(folder)
  } catch (cause) {
    throw new DataDirError(`DATA_DIR ${folder} cannot be made: ${(cause as Error).message}`, { cause })
  }
}

/** Not `recursive`: that asks again and again for a folder which the system never makes, as under /proc. */
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

/** Leaves word of who holds the folder; the index's own lock is what keeps others out. */
export async function signDataDir(folder: string, baseUrl: string): Promise<void> {
  const holder = { pid: process.pid, baseUrl, since: new Date().toISOString() }
  await writeFile(join(folder, HOLDER), `${JSON.stringify(holder)}\n`, { mode: 0o600 })
}

/** What to tell an operator whose index or jobs cannot be opened. @param error LevelDB's, whose cause says why */
export function storeUnusable(folder: string, { name, error }: { name: string; error: Error }): DataDirError {
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new DataDirError(`the ${name} in DATA_DIR ${folder} cannot be opened: ${reason}`, { cause: error })
}

/** What to tell an operator whose second process found the folder taken. */
export async function dataDirTaken(folder: string, cause: unknown): Promise<DataDirError> {
  let holder = 'another process'
  try {
    const { pid, baseUrl, since } = JSON.parse(await readFile(join(folder, HOLDER), 'utf8'))
    holder = `process ${pid}, at ${baseUrl} since ${since}`
  } catch {
    // It has not signed yet, or its file cannot be read.
  }
  return new DataDirError(
    `DATA_DIR ${folder} is in use by ${holder}; stop that one or set another DATA_DIR`,
    { cause },
  )
}

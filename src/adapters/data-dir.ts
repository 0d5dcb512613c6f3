import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A data folder that another process holds, or that cannot be used; the message is for the operator. */
export class DataDirError extends Error {
  override name = 'DataDirError'
}

const HOLDER = 'holder.json'

/** Makes the folder, readable by its owner only. @throws DataDirError */
export async function makeDataDir(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new DataDirError(`DATA_DIR ${folder} cannot be made: ${(cause as Error).message}`, { cause })
  }
}

/** Leaves word of who holds the folder; the index's own lock is what keeps others out. */
export async function signDataDir(folder: string, baseUrl: string): Promise<void> {
  const holder = { pid: process.pid, baseUrl, since: new Date().toISOString() }
  await writeFile(join(folder, HOLDER), `${JSON.stringify(holder)}\n`, { mode: 0o600 })
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

import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { ClassicLevel } from 'classic-level'

/** What an installation holds: for each file and each row of the index one line, sorted. */
export interface State {
  /** As in {@link filesInBucket}. */
  files: string[]
  /** The index's rows as `<kind> <client> <key…> <state>`; `u` rows are those that are not settled. */
  rows: string[]
}

/** Reads the folder of a service that has stopped. */
export async function readState(dataDir: string): Promise<State> {
  return { files: await filesInBucket(dataDir), rows: await embeddedRows(dataDir) }
}

/** The rows of an embedded index that no process has open. */
export async function embeddedRows(dataDir: string): Promise<string[]> {
  const level = new ClassicLevel<string, { state?: string }>(join(dataDir, 'index'), {
    valueEncoding: 'json',
  })
  // Without those by which originals are listed.
  const rows = (await level.iterator().all()).filter(([key]) => /^[odu]\0/.test(key))
  await level.close()
  return rows.map(([key, value]) => `${key.replaceAll('\0', ' ')} ${value.state ?? ''}`).sort()
}

/**
 * Every file of the bucket as it lies there, sorted: `<client id>/<key>`, and the half written ones; without the
 * clients' own records, which are always there.
 */
export async function filesInBucket(dataDir: string): Promise<string[]> {
  const bucket = join(dataDir, 'bucket')
  const entries = await entriesBelow(bucket)
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(bucket, join(entry.parentPath, entry.name)))
    .filter((file) => !/^[^/]+\/\.sluice\/clients\//.test(file))
    .sort()
}

/** Reads the folder again when subfolders were deleted during the read. */
async function entriesBelow(folder: string): Promise<Dirent[]> {
  for (;;) {
    try {
      return await readdir(folder, { recursive: true, withFileTypes: true })
    } catch (error) {
      const { code, path } = error as NodeJS.ErrnoException
      if (code !== 'ENOENT' || path === folder) throw error
    }
  }
}

/** The state in which these originals are stored, each with its variants. */
export function storedState(client: string, originals: Readonly<Record<string, readonly string[]>>): State {
  const files: string[] = []
  const rows: string[] = []
  for (const [key, variants] of Object.entries(originals)) {
    files.push(`${client}/${key}`, `${client}/.sluice/meta/${key}.json`)
    rows.push(`o ${client} ${key} stored`)
    for (const variant of variants) {
      files.push(`${client}/${key}_${variant}`)
      rows.push(`d ${client} ${key} ${key}_${variant} stored`)
    }
  }
  return { files: files.sort(), rows: rows.sort() }
}

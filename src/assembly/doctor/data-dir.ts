import { randomUUID } from 'node:crypto'
import { rm, stat, statfs, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Config } from '../../../config/load.ts'
import { hasUncopiedState, unwritable } from '../../adapters/disk/data-dir.ts'
import type { Finding } from '../../core/checkup.ts'
import { shownBytes } from './shown-bytes.ts'

// A video of some minutes and its transcodes.
const ENOUGH_BYTES = 2_000_000_000
const COPY =
  'If it is not in Redis, stop the service and run `sluice migrate-state <DATA_DIR>`, which also ends this warning.'
// For each inode, so for each small file.
const ENOUGH_FILES = 10_000

/** Checks that the data folder can be written to, and has space. A missing folder is created at the first start. */
export async function checkDataDir({
  DATA_DIR,
  REDIS_URL,
}: Pick<Config, 'DATA_DIR' | 'REDIS_URL'>): Promise<Finding[]> {
  const folder = await nearestExisting(DATA_DIR)
  const isMissing = folder !== DATA_DIR
  try {
    await writeAndDelete(folder)
  } catch (error) {
    const { message } = unwritable(DATA_DIR, error)
    return [{ state: 'problem', found: message, advice: 'Run the server as the owner of a writable folder.' }]
  }
  const { bavail, bsize, ffree, files } = await statfs(folder)
  const bytes = bavail * bsize
  const free = `${DATA_DIR} is writable, ${shownBytes(bytes)} free`
  const found = isMissing ? `${free}; the first start creates it` : free
  if (files > 0 && ffree < ENOUGH_FILES)
    return [
      {
        state: 'warning',
        found: `${found}, only ${ffree} more files`,
        advice: 'Free some inodes of the disk.',
      },
    ]
  if (bytes < ENOUGH_BYTES)
    return [
      {
        state: 'warning',
        found,
        advice: `Free some space: at least ${shownBytes(ENOUGH_BYTES)}, and for each core the size of a large video.`,
      },
    ]
  if (REDIS_URL !== undefined && hasUncopiedState(DATA_DIR))
    return [{ state: 'warning', found: `${found}, has the state of a service without Redis`, advice: COPY }]
  return [{ state: 'ok', found }]
}

async function nearestExisting(folder: string): Promise<string> {
  if (await stat(folder).catch(() => undefined)) return folder
  return dirname(folder) === folder ? folder : nearestExisting(dirname(folder))
}

// More than one block, since a full disk may still accept an empty file.
const BYTES = Buffer.alloc(64 * 1024)

async function writeAndDelete(folder: string): Promise<void> {
  const file = join(folder, `.doctor-${randomUUID()}`)
  try {
    await writeFile(file, BYTES, { mode: 0o600 })
  } finally {
    await rm(file, { force: true })
  }
}

import { readdir, readFile, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { filesInBucket, readState, type State } from './stored/state.ts'

/** A choice of where files and states are stored. */
export interface Backend {
  name: string
  /** The environment of a service with this data folder: the same for the same folder. */
  env(dataDir: string): Promise<Record<string, string>>
  /**
   * Every object of the bucket, sorted: `<client id>/<key>`, and the half written ones; without the clients' own
   * records, which are always there.
   */
  objects(dataDir: string): Promise<string[]>
  /** The files of the bucket and the rows of the index. An embedded index can be read only when its service has stopped. */
  state(dataDir: string): Promise<State>
  /** Empties the index, of a service that has stopped. */
  emptyIndex(dataDir: string): Promise<void>
  /** What holds this text: files of the data folder, objects of the bucket, keys of the store; sorted. */
  holding(dataDir: string, text: string): Promise<string[]>
}

export const EMBEDDED: Backend = {
  name: 'disk, embedded',
  env: async () => ({}),
  objects: filesInBucket,
  state: readState,
  emptyIndex: removeIndex,
  holding: filesHolding,
}

/** The embedded index, as {@link Backend.emptyIndex} has it. */
export async function removeIndex(dataDir: string): Promise<void> {
  await rm(join(dataDir, 'index'), { recursive: true })
}

/** Files of the data folder, as {@link Backend.holding} has them. */
export async function filesHolding(dataDir: string, text: string): Promise<string[]> {
  const found: string[] = []
  for (const entry of await readdir(dataDir, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (entry.isFile() && (await readFile(file)).includes(text)) found.push(relative(dataDir, file))
  }
  return found.sort()
}

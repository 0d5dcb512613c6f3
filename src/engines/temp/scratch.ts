import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Asset, openWhole } from '../../core/bytes/asset.ts'
import { isAlive } from '../../core/is-alive.ts'
import { unavailable } from '../../core/problem.ts'
import { isFull } from '../../core/storage/full-disk.ts'
import { killWritersInto } from './orphans.ts'

/** A file on this machine's disk, and a folder for the output. */
export interface ScratchFile {
  /** The path of the file. */
  path: string
  folder: string
  /** Removes the folder, and the file when it is a copy. */
  remove(): Promise<void>
}

/** Temporary files for programs that read and write files themselves. */
export interface Scratch {
  /** Returns the asset's own file, or a copy of it. @throws Problem 404, 503, `signal.reason` */
  take(asset: Asset, signal: AbortSignal): Promise<ScratchFile>
  /** Creates an empty folder, for output that is needed longer than its source. */
  newFolder(): Promise<Pick<ScratchFile, 'folder' | 'remove'>>
  /**
   * Removes the files of killed processes, and kills the programs that they started.
   * @param options.afterMs longer than any work may take: older folders of other machines are removed
   */
  removeStale(options: { afterMs: number }): Promise<void>
}

const OWN_NAME = /^(.+)-(\d+)-[0-9a-f-]{36}$/

/** Manages temporary files in `folder`, which several processes may share. */
export function createScratch(folder: string): Scratch {
  async function newFolder() {
    const own = join(folder, `${hostname()}-${process.pid}-${randomUUID()}`)
    await mkdir(own, { recursive: true, mode: 0o700 })
    return { folder: own, remove: () => rm(own, { recursive: true, force: true }) }
  }

  return {
    newFolder,

    async take(asset, signal) {
      signal.throwIfAborted()
      const { folder: own, remove } = await newFolder()
      if (asset.file !== undefined) return { path: asset.file, folder: own, remove }
      try {
        const path = join(own, 'source')
        const copy = createWriteStream(path, { flags: 'wx', mode: 0o600 })
        await pipeline(await openWhole(asset, { signal }), copy, { signal })
        return { path, folder: own, remove }
      } catch (error) {
        await remove()
        signal.throwIfAborted()
        throw scratchProblem(error)
      }
    },

    async removeStale({ afterMs }) {
      const names = await readdir(folder).catch(() => [])
      for (const name of names) {
        const path = join(folder, name)
        if (!(await isStale(name, path, afterMs))) continue
        await killWritersInto(path)
        await rm(path, { recursive: true, force: true })
      }
    },
  }
}

/**
 * Called before this process creates any folder. In a container PIDs repeat: a folder with our own PID belongs to a
 * previous process.
 */
async function isStale(name: string, path: string, afterMs: number): Promise<boolean> {
  const [, host, pid] = OWN_NAME.exec(name) ?? []
  if (pid === undefined) return false
  if (host === hostname() && (Number(pid) === process.pid || !isAlive(Number(pid)))) return true
  const found = await stat(path).catch(() => undefined)
  return found !== undefined && found.mtimeMs < Date.now() - afterMs
}

/** The error of a write into a temporary folder: a 503 when the disk is full, any other error unchanged. */
export function scratchProblem(error: unknown): unknown {
  return isFull(error) ? unavailable('The disk has no space to work on this file.', { cause: error }) : error
}

import { chmod, mkdir } from 'node:fs/promises'
import { type BatchOperation, ClassicLevel } from 'classic-level'
import type { Log } from '../../core/log.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { type DiskReserve, NO_RESERVE } from '../disk/disk-reserve.ts'
import { makeSureOfRoom } from '../disk/full-disk.ts'
import { isDamage, moveAside } from './damage.ts'

export type Row = BatchOperation<ClassicLevel<string, unknown>, string, unknown>

export interface WriteOptions {
  durable?: boolean
  freesRoom?: boolean
}

/** Rows of a LevelDB folder, by name. Values are JSON. */
export interface ResilientLevel {
  /** All as they are at one moment; undefined for those that are not there. */
  get(names: readonly string[]): Promise<unknown[]>
  /** Exclusive bounds; in order, all of them or the first so many. */
  rows(range: { gt: string; lt: string; limit?: number }): Promise<Array<[name: string, value: unknown]>>
  /** The same, or from the last one back. */
  names(range: { gt: string; lt: string; limit?: number; reverse?: boolean }): Promise<string[]>
  /**
   * All in one step, which a power cut undoes no more when it resolves, unless it need not outlive that (`durable`): then it
   * does once a later one does. Neither is undone by the process's end. With `freesRoom`, for a step of a delete, it
   * may use the reserve of the disk. @throws Problem 503 while the disk is full
   */
  write(rows: Row[], options?: WriteOptions): Promise<void>
  /** How often an empty store took the place of a damaged one since it was opened. */
  replacements(): number
  close(): Promise<void>
}

// What an opening may write: the tables of two write buffers of 4 MB. Without it the store would stay closed, and
// nothing could be read either.
const ROOM_BYTES = 8 * 1024 * 1024

export interface ResilientLevelOptions {
  reserve?: DiskReserve
  /** The store can be filled again from elsewhere: a damaged one is moved aside, and an empty one takes its place. */
  refilled?: { log: Log }
}

/**
 * LevelDB that outlives a full disk. By itself it either refuses every write after the first that has failed, or writes
 * on behind half a record, and loses at the next start what it has confirmed. So a write that fails is the last one
 * until there is room again and the store has been opened anew; until then it is read as before.
 *
 * @throws when another process has the folder open: the error's cause has the `code` LEVEL_LOCKED
 */
export async function lastingLevel(
  folder: string,
  { reserve = NO_RESERVE, refilled }: ResilientLevelOptions = {},
): Promise<ResilientLevel> {
  await reserve.forced(() => makePrivate(folder))
  const level = new ClassicLevel<string, unknown>(folder, { valueEncoding: 'json' })
  let closing = false
  let broken = false
  let mending: Promise<void> | undefined
  let replaced = 0
  await open()

  /** Opens the closed store; if it is damaged and can be filled again, an empty one in its place. */
  async function open(): Promise<void> {
    try {
      await reserve.forced(() => level.open())
    } catch (error) {
      if (!refilled || !(await isDamage(error))) throw error
      await openEmpty(error, refilled.log)
    }
  }

  /** @param error what has shown the damage of the closed store */
  async function openEmpty(error: unknown, log: Log): Promise<void> {
    replaced += 1
    await moveAside(folder, { error, log })
    await reserve.forced(() => level.open())
  }

  async function reopen(): Promise<void> {
    try {
      await makeSureOfRoom(folder, ROOM_BYTES)
      await level.close()
      await open()
      broken = false
    } catch (cause) {
      throw cause instanceof Problem
        ? cause
        : unavailable('The write could not be stored. Retry in a few seconds.', { cause })
    }
  }

  function mend(): Promise<void> {
    mending ??= reopen().finally(() => {
      mending = undefined
    })
    return mending
  }

  /** Whether the store is damaged, or was when this failed: another caller may have moved it aside since `known`. */
  const wasDamaged = async (error: unknown, known: number) => (await isDamage(error)) || replaced > known

  /** Puts an empty store in the place of a damaged one, unless another caller has since `known`. */
  async function replace(error: unknown, { known, log }: { known: number; log: Log }): Promise<void> {
    if (mending !== undefined) return mending
    if (replaced > known) return
    mending = (async () => {
      await level.close()
      await openEmpty(error, log)
      broken = false
    })().finally(() => {
      mending = undefined
    })
    await mending
  }

  async function append(rows: Row[], durable: boolean): Promise<void> {
    try {
      await level.batch(rows, { sync: durable })
    } catch (error) {
      broken = !closing
      throw error
    }
  }

  async function reading<T>(work: () => T): Promise<Awaited<T>> {
    const known = replaced
    try {
      return await work()
    } catch (error) {
      if (!closing && refilled && (await wasDamaged(error, known))) {
        await replace(error, { known, log: refilled.log })
        return await work()
      }
      // In the middle of being opened anew, or that has failed.
      if (closing || (level.status === 'open' && !mending)) throw error
      await reserve.forced(mend)
      return await work()
    }
  }

  async function writeOnce(rows: Row[], durable: boolean): Promise<void> {
    const known = replaced
    if (broken) await mend()
    try {
      await append(rows, durable)
    } catch (error) {
      if (closing) throw error
      if (refilled && (await wasDamaged(error, known))) await replace(error, { known, log: refilled.log })
      else await mend()
      await append(rows, durable)
    }
  }

  return {
    get: (names) => reading(() => names.map((name) => level.getSync(name))),
    rows: (range) => reading(() => level.iterator(range).all()),
    names: (range) => reading(() => level.keys(range).all()),
    async write(rows, { durable = true, freesRoom = false } = {}) {
      if (freesRoom) return reserve.forced(() => writeOnce(rows, durable))
      if (!reserve.isIntact()) await reserve.restored()
      await writeOnce(rows, durable)
    },
    replacements: () => replaced,
    async close() {
      closing = true
      await mending?.catch(() => {})
      await level.close()
    },
  }
}

/**
 * Keeps the folder for its owner, also one of an earlier version: LevelDB makes folders and files that every local user may
 * read, and they hold names, tags, and payloads of webhooks.
 */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700).catch((error: NodeJS.ErrnoException) => {
    // A file system without modes, or a folder of another owner: the operator has chosen that.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EROFS'].includes(error.code ?? '')) throw error
  })
}

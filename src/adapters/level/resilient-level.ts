import { chmod, mkdir } from 'node:fs/promises'
import { type BatchOperation, ClassicLevel } from 'classic-level'
import type { Log } from '../../core/log.ts'
import { Problem, unavailable } from '../../core/problem.ts'
import { type DiskReserve, NO_RESERVE } from '../disk/disk-reserve.ts'
import { makeSureOfRoom } from '../disk/full-disk.ts'
import { isDamage, moveAside } from './damage.ts'

/** One put or delete of a batch. */
export type Row = BatchOperation<ClassicLevel<string, unknown>, string, unknown>

/** See {@link ResilientLevel.write}. */
export interface WriteOptions {
  durable?: boolean
  freesRoom?: boolean
}

/** Rows of a LevelDB folder, by name. Values are JSON. */
export interface ResilientLevel {
  /** The values of these names, all from the same moment. Undefined for a missing row. */
  get(names: readonly string[]): Promise<unknown[]>
  /** The rows between two exclusive bounds, in order. At most `limit`, counted from the first. */
  rows(range: { gt: string; lt: string; limit?: number }): Promise<Array<[name: string, value: unknown]>>
  /** The names between two exclusive bounds. With `reverse`, from the last one backwards. */
  names(range: { gt: string; lt: string; limit?: number; reverse?: boolean }): Promise<string[]>
  /**
   * Writes all rows atomically. When it resolves, the rows survive the end of the process. With `durable`, the default,
   * they also survive a power cut. Without it, they do so after the next durable write. With `freesRoom`, for a step of
   * a delete, it may use the reserve of the disk.
   * @throws Problem 503 while the disk is full
   */
  write(rows: Row[], options?: WriteOptions): Promise<void>
  /** How often a damaged store was replaced by an empty one since it was opened. */
  replacements(): number
  close(): Promise<void>
}

// The space that the opening of the store may need: the tables of two write buffers of 4 MB. Without it, the store would
// remain closed, and could not be read either.
const ROOM_BYTES = 8 * 1024 * 1024

/** `message` is logged as an error when a store was damaged and was moved aside. */
export interface Refill {
  log: Log
  message: string
}

/** Settings of one store. */
export interface ResilientLevelOptions {
  reserve?: DiskReserve
  /**
   * Set when the store can be filled again from another source, or may be lost:
   * a damaged store is moved aside and replaced by an empty one.
   */
  refilled?: Refill
}

/** A folder, or a store that is open already, as in tests. */
export type StorePlace = string | ResilientLevel

/**
 * LevelDB that survives a full disk. After a failed write, plain LevelDB either refuses every further write, or appends
 * after half a record, and loses confirmed writes at the next start. So after a failed write, no other write begins until
 * there is space again and the store was reopened. Reads continue to work in the meantime.
 *
 * @throws when another process has the folder open: the error's cause has the `code` LEVEL_LOCKED
 */
export async function openResilientLevel(
  place: StorePlace,
  { reserve = NO_RESERVE, refilled }: ResilientLevelOptions = {},
): Promise<ResilientLevel> {
  if (typeof place !== 'string') return place
  const folder = place
  await reserve.forced(() => makePrivate(folder))
  const level = new ClassicLevel<string, unknown>(folder, { valueEncoding: 'json' })
  let closing = false
  let broken = false
  let reopening: Promise<void> | undefined
  let replaced = 0
  await open()

  /** Opens the closed store. A damaged store that can be filled again is replaced by an empty one. */
  async function open(): Promise<void> {
    try {
      await reserve.forced(() => level.open())
    } catch (error) {
      if (!refilled || !(await isDamage(error))) throw error
      await openEmpty(error, refilled)
    }
  }

  /** Replaces the closed store by an empty one. @param error the error that has shown the damage */
  async function openEmpty(error: unknown, refill: Refill): Promise<void> {
    replaced += 1
    await moveAside(folder, { error, ...refill })
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

  function reopenOnce(): Promise<void> {
    reopening ??= reopen().finally(() => {
      reopening = undefined
    })
    return reopening
  }

  /** Whether the store is damaged, or was when this call failed: another caller may have replaced it since `known`. */
  const wasDamaged = async (error: unknown, known: number) => (await isDamage(error)) || replaced > known

  /** Replaces a damaged store by an empty one, unless another caller has done so since `known`. */
  async function replace(
    error: unknown,
    { known, refill }: { known: number; refill: Refill },
  ): Promise<void> {
    if (reopening !== undefined) return reopening
    if (replaced > known) return
    reopening = (async () => {
      await level.close()
      await openEmpty(error, refill)
      broken = false
    })().finally(() => {
      reopening = undefined
    })
    await reopening
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
        await replace(error, { known, refill: refilled })
        return await work()
      }
      // The store is closed: another call reopens it, or the last attempt has failed.
      if (closing || (level.status === 'open' && !reopening)) throw error
      await reserve.forced(reopenOnce)
      return await work()
    }
  }

  async function writeOnce(rows: Row[], durable: boolean): Promise<void> {
    const known = replaced
    if (broken) await reopenOnce()
    try {
      await append(rows, durable)
    } catch (error) {
      if (closing) throw error
      if (refilled && (await wasDamaged(error, known))) await replace(error, { known, refill: refilled })
      else await reopenOnce()
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
      await reopening?.catch(() => {})
      await level.close()
    },
  }
}

/**
 * Makes the folder readable by its owner only, also a folder of an earlier version. LevelDB creates folders and files that
 * every local user may read, and they contain names, tags, and payloads of webhooks.
 */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await chmod(folder, 0o700).catch((error: NodeJS.ErrnoException) => {
    // The file system has no modes, or the folder belongs to another user. That is the choice of the operator.
    if (!['EPERM', 'ENOTSUP', 'ENOSYS', 'EROFS'].includes(error.code ?? '')) throw error
  })
}

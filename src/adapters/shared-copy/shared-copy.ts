import { withExclusiveLock } from '../../core/async/cross-process-mutex.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { unavailable } from '../../core/problem.ts'
import { createInTurn } from '../in-turn.ts'

/** A version of records in the bucket, by which a process notices the changes of other processes. */
export interface SharedVersion {
  /** Sets a new version. @throws Problem 503 */
  announce(): Promise<void>
  /** The version. It differs after each change, and after the store of the version was emptied. @throws Problem 503 */
  version(): Promise<string | undefined>
}

/** What processes that share a bucket share in addition. */
export interface Shared {
  changes: SharedVersion
  locks: Locks
}

/** A copy in memory of records in the bucket, which this process and others change. The bucket is the source of truth. */
export interface SharedCopy<T> {
  value(): T
  /** Replaces the copy by what the bucket has now. */
  set(value: T): void
  /**
   * Reads the changes of other processes, unless that was done in the last `maxAgeMs`. Default: 0.
   * @throws when the version or the bucket is unavailable; the copy remains
   */
  refresh(options?: { maxAgeMs: number }): Promise<void>
  /**
   * Runs a change after a refresh, so it fails when other processes could not be notified. Across all processes, one change
   * per `lock` at a time. Within this process, one change at a time, since it has one copy.
   * @param work its signal aborts when the lock is lost
   */
  change<R>(lock: string, work: (signal?: AbortSignal) => Promise<R>): Promise<R>
  /** Notifies other processes of a stored change. @throws Problem 503 */
  announce(): Promise<void>
}

// The records are read again this often. This covers a lost version and records that were changed by hand.
const READ_AGAIN_MS = 5 * 60_000
// A change takes two operations of the bucket, which time out after a few seconds.
const CHANGE_LIMIT_MS = 30_000

/** Reads the copy. @param options.subject of the records, for messages; `read`: gets the former copy, if there is one */
export async function createSharedCopy<T>({
  subject,
  read,
  shared,
  now,
}: {
  subject: 'client' | 'member'
  read: (former?: T) => Promise<T>
  shared: Shared | undefined
  now: () => number
}): Promise<SharedCopy<T>> {
  const changes = shared?.changes
  // Read before the records: a change during the reading sets another version, so the next refresh reads again.
  let version = await changes?.version().catch(() => undefined)
  let readAt = now()
  /** When the last complete refresh began. */
  let refreshedAt = Number.NEGATIVE_INFINITY
  let known: T = await read()
  // Changes run one after the other: each is checked against the results of those before it.
  const inTurn = createInTurn()

  async function refresh({ maxAgeMs } = { maxAgeMs: 0 }): Promise<void> {
    const begun = now()
    // Each comparison also ends when the clock was set back.
    if (begun >= refreshedAt && begun < refreshedAt + maxAgeMs) return
    let failure: { error: unknown } | undefined
    const present = await changes?.version().catch((error) => {
      failure = { error }
      return version
    })
    if (present !== version || begun >= readAt + READ_AGAIN_MS || begun < readAt) {
      known = await read(known)
      version = present
      readAt = begun
    }
    if (failure) throw failure.error
    refreshedAt = begun
  }

  function alone<R>(lock: string, work: (signal?: AbortSignal) => Promise<R>): Promise<R> {
    return shared ? withExclusiveLock(shared.locks, lock, work, { limitMs: CHANGE_LIMIT_MS }) : work()
  }

  return {
    value: () => known,
    set: (value) => {
      known = value
    },
    refresh: (options) => inTurn([subject], () => refresh(options)),
    change: (lock, work) =>
      alone(lock, (signal) =>
        inTurn([subject], async () => {
          await refresh()
          return work(signal)
        }),
      ),
    async announce() {
      await changes?.announce().catch((cause) => {
        throw unavailable(
          `${subject} change stored, but other processes were not notified: they see it within five minutes`,
          { cause },
        )
      })
    },
  }
}

import type { Log } from '../../core/log.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import type { Locks } from '../../core/ports/locks.ts'
import type { Reindex } from './reindex.ts'

/**
 * Compares the index with the buckets when it is new, was emptied, is of an older version, or may have lost its last steps
 * in a restart, failover or restore; by one process at a time. Otherwise it asks the index two short questions.
 */
export type Complete = (signal: AbortSignal) => Promise<void>

// A million records of an S3 bucket take some ten minutes. What is broken off begins anew: what is known by then is quick.
const LIMIT_MS = 3_600_000
const PAUSE_PER_WORK = 10

export function createCompletion({
  index,
  locks,
  reindex,
  log,
}: {
  index: FileIndex
  locks: Locks
  reindex: Reindex
  log: Log
}): Complete {
  // One bucket that is away must not mean a walk through all the others every few seconds.
  let waitUntil = 0

  /** Lists miss something, or the store has begun another run: it may have lost the last steps, and what was deleted may be back. */
  async function isNeeded(): Promise<boolean> {
    const { id, isCompared } = await index.run()
    return (id !== undefined && !isCompared) || !(await index.isComplete())
  }

  async function fill(signal: AbortSignal): Promise<null> {
    if (!(await isNeeded())) return null
    const startedAt = performance.now()
    const { originals } = await reindex({
      signal,
      found: async (finding) => log.warn({ ...finding }, 'a file could not be added to the index'),
      progress: async () => {},
    })
    if (originals.known + originals.added > 0)
      log.info(
        { ...originals, ms: Math.round(performance.now() - startedAt) },
        'compared the index with all files',
      )
    return null
  }

  return async (signal) => {
    if (performance.now() < waitUntil || !(await isNeeded())) return
    const startedAt = performance.now()
    try {
      await locks.share('list all files', fill, { signal, limitMs: LIMIT_MS })
    } catch (error) {
      const endedAt = performance.now()
      waitUntil = endedAt + PAUSE_PER_WORK * (endedAt - startedAt)
      throw error
    }
  }
}

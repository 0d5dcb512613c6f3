import type { Log } from '../../core/log.ts'
import type { FileLists, IndexMaintenance } from '../../core/ports/file-index.ts'
import type { Locks } from '../../core/ports/locks.ts'
import type { Reindex } from './reindex.ts'

/**
 * Compares the index with the buckets when it is new, was emptied, is of an older version, or may have lost its last steps
 * in a restart, failover or restore. One process does this at a time. Otherwise it only makes two short calls to the index.
 */
export type Complete = (signal: AbortSignal) => Promise<void>

// A million records in S3 take about ten minutes. An aborted run starts again, and files that are known by then are quick.
const LIMIT_MS = 3_600_000
const PAUSE_PER_WORK = 10

export function createCompletion({
  index,
  locks,
  reindex,
  log,
}: {
  index: FileLists & IndexMaintenance
  locks: Locks
  reindex: Reindex
  log: Log
}): Complete {
  // While one bucket is down, the scan of all others must not be repeated every few seconds.
  let waitUntil = 0

  /**
   * True when lists, counters or the search are incomplete, or when the store was restarted: it
   * may have lost its last steps, so deleted files may be listed again.
   */
  async function isNeeded(): Promise<boolean> {
    const { id, isCompared } = await index.run()
    if (id !== undefined && !isCompared) return true
    return !((await index.isComplete()) && (await index.isCounted()) && (await index.canSearch()))
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

import type { Log } from '../core/log.ts'
import type { FileIndex } from '../core/ports/file-index.ts'
import type { Locks } from '../core/ports/locks.ts'
import type { Reindex } from './reindex.ts'

/**
 * Takes all originals of the buckets into an index that is new, was emptied, or is of an older version, so that lists miss
 * none; by one process at a time. Of a complete one it asks no more than that.
 */
export type Complete = (signal: AbortSignal) => Promise<void>

// A million records of an S3 bucket take some ten minutes. What is broken off begins anew: what is known by then is quick.
const LIMIT_MS = 3_600_000

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
  async function fill(signal: AbortSignal): Promise<null> {
    if (await index.isComplete()) return null
    const startedAt = performance.now()
    const { originals } = await reindex({
      only: 'originals',
      signal,
      found: async (finding) => log.warn({ ...finding }, 'a file could not be taken into the index'),
      progress: async () => {},
    })
    if (originals.known + originals.added > 0)
      log.info({ ...originals, ms: Math.round(performance.now() - startedAt) }, 'listed all files')
    return null
  }

  return async (signal) => {
    if (!(await index.isComplete())) await locks.share('list all files', fill, { signal, limitMs: LIMIT_MS })
  }
}

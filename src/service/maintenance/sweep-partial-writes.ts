import type { Log } from '../../core/log.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'

/**
 * Removes incomplete writes by their age. This includes writes whose index entry is missing because the index was emptied
 * since they began.
 *
 * @returns the number of removed writes
 */
export type SweepPuts = () => Promise<number>

// Longer than any put takes: 78 GiB at 1.4 MB/s.
const OLDEST_PUT_MS = 16 * 3_600_000

export function createSweepPuts({
  buckets,
  clients,
  log,
}: {
  buckets: Buckets
  clients: ClientStore
  log: Log
}): SweepPuts {
  return async () => {
    const halfWritten = await buckets.sweep(OLDEST_PUT_MS, clients.list())
    if (halfWritten > 0) log.info({ halfWritten }, 'removed partially written files')
    return halfWritten
  }
}

import type { Log } from '../../core/log.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { sweepRedirects } from '../moves/sweep-redirects.ts'

/**
 * Removes what time alone makes useless: incomplete writes by their age, and expired redirects. The writes include those whose
 * index entry is missing because the index was emptied since they began.
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
  now = Date.now,
}: {
  buckets: Buckets
  clients: ClientStore
  log: Log
  now?: () => number
}): SweepPuts {
  return async () => {
    const halfWritten = await buckets.sweep(OLDEST_PUT_MS, clients.list())
    if (halfWritten > 0) log.info({ halfWritten }, 'removed partially written files')
    await sweepRedirects({ buckets, clients, log, now })
    return halfWritten
  }
}

import { resumableMeaning } from '../../core/files/resumable-key.ts'
import type { Log } from '../../core/log.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { sweepRedirects } from '../moves/sweep-redirects.ts'
import { readResumable } from '../upload/resumable/resumable-record.ts'

/**
 * Removes what time alone makes useless: incomplete writes by their age, and expired redirects. The writes include those whose
 * index entry is missing because the index was emptied since they began.
 *
 * @returns the number of removed writes
 */
export type SweepPuts = () => Promise<number>

// Longer than a put or a copy may take: a file of 5 TiB is given 66 hours to be stored. A client may send it for longer.
const OLDEST_PUT_MS = 67 * 3_600_000

export function createSweepPuts({
  buckets,
  bucket,
  clients,
  log,
  oldestPutMs = OLDEST_PUT_MS,
  now = Date.now,
}: {
  buckets: Buckets
  /** The first client's, which holds the uploads of all clients. */
  bucket: Bucket
  clients: ClientStore
  log: Log
  /** Older puts are removed. Default: 67 hours. */
  oldestPutMs?: number
  now?: () => number
}): SweepPuts {
  return async () => {
    const halfWritten = await buckets.sweep(oldestPutMs, {
      clients: clients.list(),
      // The sweep of resumable uploads ends it when it has expired.
      async continues(key) {
        const ref = resumableMeaning(key)?.ref
        try {
          const record = ref && (await readResumable(bucket, ref))
          return record?.direct !== undefined && !record.stored
        } catch (err) {
          log.warn({ err, key }, 'the record of an upload cannot be read, so its parts remain')
          return true
        }
      },
    })
    if (halfWritten > 0) log.info({ halfWritten }, 'removed partially written files')
    await sweepRedirects({ buckets, clients, log, now })
    return halfWritten
  }
}

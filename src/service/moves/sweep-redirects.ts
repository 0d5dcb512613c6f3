import { mapConcurrent } from '../../core/async/map-concurrent.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Log } from '../../core/log.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import { redirectPrefix } from '../../core/storage/redirect-key.ts'
import { readRedirect } from './redirects.ts'

// Few, since no request waits for the sweep.
const CONCURRENCY = 4

/**
 * Deletes the redirects that have expired, and damaged ones. A client whose bucket is unavailable is skipped.
 *
 * @returns the number of deleted redirects
 */
export async function sweepRedirects({
  buckets,
  clients,
  log,
  now,
}: {
  buckets: Buckets
  clients: Pick<ClientStore, 'list'>
  log: Log
  now: () => number
}): Promise<number> {
  let deleted = 0
  for (const client of clients.list()) {
    const bucket = buckets.of(client)
    const end = async (key: ObjectKey) => {
      const redirect = await readRedirect(bucket, key)
      if (redirect && redirect.until > now()) return
      const { failed } = await bucket.delete([key])
      deleted += 1 - failed.length
    }
    try {
      for await (const _ of mapConcurrent(bucket.list(redirectPrefix), {
        concurrency: CONCURRENCY,
        work: end,
      })) {
        // The work is done by `end`.
      }
    } catch (err) {
      log.warn({ err, client: client.id }, 'the sweep of expired redirects failed; the next sweep retries')
    }
  }
  if (deleted > 0) log.info({ deleted }, 'deleted expired redirects of moved files')
  return deleted
}

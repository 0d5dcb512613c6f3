import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, recordKey } from '../../core/files/object-key.ts'
import { parsePath } from '../../core/files/request-path.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import type { IndexedFile, OriginalIndex } from '../../core/ports/file-index.ts'
import type { Originals } from './originals.ts'

/**
 * Removes the index entry of an original that has neither bytes nor record in the bucket: it was deleted, and the index has
 * lost that step. It changes nothing in the bucket, so an entry that was removed by mistake can be indexed again.
 *
 * @returns whether there was such an entry
 */
export type ForgetMissing = (client: Client, file: IndexedFile) => Promise<boolean>

export function createForgetMissing({
  index,
  buckets,
  originals,
}: {
  index: OriginalIndex
  buckets: Buckets
  originals: Originals
}): ForgetMissing {
  return async (client, { ref, original }) => {
    if (original.state !== 'stored' && original.state !== 'trashed') return false
    const bucket = buckets.of(client)
    if (await isThere(bucket, ref.key)) return false
    if (!(await index.beginRemoval(ref, { cause: 'purge', leaseUntil: 0, now: 0 }))) return false
    const forgotten = await index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    // A backup may have been restored in between.
    if (await bucket.find(ref.key)) await originals.resolve(client, parsePath(ref.key))
    return forgotten
  }
}

/** Checks by reads and by a list: a store that responds with 404 to all reads must not empty the index. */
async function isThere(bucket: Bucket, key: ObjectKey): Promise<boolean> {
  if ((await bucket.find(key)) || (await bucket.find(recordKey(key)))) return true
  for await (const listed of bucket.list(key)) if (listed === key) return true
  return false
}

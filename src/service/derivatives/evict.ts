import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'
import { deleteDerivative } from '../originals/delete-objects.ts'

/**
 * Deletes one stored derivative: `pending` → its bytes → its parts → no entry. After a crash, a sweep keeps the derivative if its
 * bytes still exist, and completes the delete otherwise. Readers that have opened it can read to the end.
 *
 * @returns false when another caller was faster
 * @throws Problem 503 when some of it may remain: the sweep continues
 */
export type Evict = (client: Client, original: ObjectKey, derivative: ObjectKey) => Promise<boolean>

// After this time a sweep completes an eviction whose process has died.
const LEASE_MS = 60_000

export function createEvict({
  index,
  buckets,
  now = Date.now,
}: {
  index: DerivativeIndex
  buckets: Buckets
  now?: () => number
}): Evict {
  return async (client, original, derivative) => {
    const ref = { clientId: client.id, key: original }
    const deadline = now() + LEASE_MS
    if (!(await index.beginEviction(ref, derivative, deadline))) return false
    await deleteDerivative(buckets.of(client), derivative)
    // A request may have begun the derivative again since then: its later deadline keeps the entry.
    await index.dropDerivative(ref, derivative, deadline)
    return true
  }
}

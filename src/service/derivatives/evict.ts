import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { DerivativeIndex } from '../../core/ports/file-index.ts'
import { deleteDerivative } from '../originals/delete-objects.ts'

/**
 * Deletes a stored derivative alone: `pending` → its bytes → its parts → forgotten. When this is broken off, a sweep
 * keeps it if its bytes are still there, or else ends the delete. Readers that have it open keep reading it.
 *
 * @returns false when another caller was faster
 * @throws Problem 503 when some of it may still be there: the sweep continues
 */
export type Evict = (client: Client, original: ObjectKey, derivative: ObjectKey) => Promise<boolean>

// After this time a sweep looks at what a dead process has left of an eviction.
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
    // A request may have begun it again since then: that one has a later deadline and stays.
    await index.dropDerivative(ref, derivative, deadline)
    return true
  }
}

import type { ObjectKey } from '../core/object-key.ts'
import type { Bucket } from '../core/ports/bucket.ts'
import { unavailable } from '../core/problem.ts'

/** Deletes what is there of `keys`. @throws Problem 503 when some may still be there: what is known of them has to stay */
export async function deleteAll(bucket: Bucket, keys: readonly ObjectKey[]): Promise<void> {
  const { failed } = await bucket.delete(keys)
  if (failed.length === 0) return
  throw unavailable(
    `${failed.length} of ${keys.length} files could not be deleted yet; the delete goes on by itself`,
    { cause: failed[0]?.error },
  )
}

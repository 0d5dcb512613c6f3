import { type ObjectKey, partsPrefix } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { unavailable } from '../../core/problem.ts'

/** Deletes what is there of `keys`. @throws Problem 503 when some may still be there: what is known of them has to stay */
export async function deleteAll(bucket: Bucket, keys: readonly ObjectKey[]): Promise<void> {
  const { failed } = await bucket.delete(keys)
  if (failed.length === 0) return
  throw unavailable(
    `${failed.length} of ${keys.length} files could not be deleted yet. The delete continues in the background.`,
    { cause: failed[0]?.error },
  )
}

/**
 * Deletes a derivative with its parts: itself first, so that it is never there without one.
 * @throws Problem 503 when some may still be there
 */
export async function deleteDerivative(bucket: Bucket, key: ObjectKey): Promise<void> {
  await deleteAll(bucket, [key])
  await deleteParts(bucket, key)
}

/**
 * Deletes what is there of a derivative's parts.
 * @param options.before only what has been stored before this instant, in milliseconds since 1970
 * @throws Problem 503 when some may still be there
 */
export async function deleteParts(
  bucket: Bucket,
  derivative: ObjectKey,
  { before }: { before?: number } = {},
): Promise<void> {
  const prefix = partsPrefix(derivative)
  if (prefix === undefined) return
  const parts: ObjectKey[] = []
  for await (const key of bucket.list(prefix)) {
    if (key === derivative) continue
    const part = before === undefined ? undefined : await bucket.find(key)
    if (before === undefined || (part && part.lastModified.getTime() < before)) parts.push(key)
  }
  if (parts.length > 0) await deleteAll(bucket, parts)
}

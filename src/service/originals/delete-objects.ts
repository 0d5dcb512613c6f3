import { type ObjectKey, partsPrefix } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { unavailable } from '../../core/problem.ts'

/** Deletes the existing objects of `keys`. @throws Problem 503 when some may remain: the caller must keep their index entries */
export async function deleteAll(bucket: Bucket, keys: readonly ObjectKey[]): Promise<void> {
  const { failed } = await bucket.delete(keys)
  if (failed.length === 0) return
  throw unavailable(
    `${failed.length} of ${keys.length} files could not be deleted yet. The delete continues in the background.`,
    { cause: failed[0]?.error },
  )
}

/**
 * Deletes a derivative, then its parts: so a derivative never exists without a part.
 * @throws Problem 503 when some objects may remain
 */
export async function deleteDerivative(bucket: Bucket, key: ObjectKey): Promise<void> {
  await deleteAll(bucket, [key])
  await deleteParts(bucket, key)
}

/**
 * Deletes the existing parts of a derivative.
 * @param options.before deletes only parts stored before this instant, in milliseconds since 1970
 * @throws Problem 503 when some objects may remain
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

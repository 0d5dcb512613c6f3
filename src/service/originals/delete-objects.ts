import { derivativePrefix, type ObjectKey, partsPrefix, recordKey } from '../../core/files/object-key.ts'
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

/**
 * The derivatives of an original with their parts. The index notes each derivative before its bytes are put. Only when the index
 * may have lost steps does this list the bucket, since on disk that reads the whole folder: 300 ms with 100,000 files.
 */
export async function withParts(
  bucket: Bucket,
  key: ObjectKey,
  { indexed, isKnown }: { indexed: readonly ObjectKey[]; isKnown: boolean },
): Promise<Set<ObjectKey>> {
  const all = new Set(indexed)
  const prefixes = isKnown ? indexed.map(partsPrefix) : [derivativePrefix(key)]
  for (const prefix of prefixes)
    if (prefix !== undefined) for await (const found of bucket.list(prefix)) all.add(found)
  return all
}

/** Whether an original has a record or a derivative, but no bytes. */
export async function hasOnlyLatePuts(bucket: Bucket, key: ObjectKey): Promise<boolean> {
  if (await bucket.find(key)) return false
  if (await bucket.find(recordKey(key))) return true
  for await (const _ of bucket.list(derivativePrefix(key))) return true
  return false
}

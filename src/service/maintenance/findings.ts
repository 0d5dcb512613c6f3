import { isDeepStrictEqual } from 'node:util'
import type { Asset } from '../../core/bytes/asset.ts'
import type { Finding, FindingKind } from '../../core/files/finding.ts'
import { type KeyClass, type ObjectKey, recordKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { DerivativeRecord, OriginalRecord, Trash } from '../../core/ports/file-index.ts'
import { unlessStatus } from '../../core/problem.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import type { DigestCheck } from './digest-check.ts'

/** An original that the index has as stored or in the trash. */
export type StoredOriginal = { record: OriginalRecord; trash?: Trash }

/** Classifies an object that the index does not know. Undefined when another object leads to the same finding. */
export async function suspicion(
  bucket: Bucket,
  meaning: KeyClass & { isIndexed: boolean },
): Promise<FindingKind | undefined> {
  const { original, isIndexed } = meaning
  const has = async (key: ObjectKey) => (await bucket.find(key)) !== undefined
  switch (meaning.kind) {
    case 'original':
      return (await has(recordKey(original.key))) ? 'original not indexed' : 'original without record'
    case 'derivative':
      return isIndexed || ((await has(original.key)) && (await has(recordKey(original.key))))
        ? 'derivative not indexed'
        : 'derivative without original'
    case 'part':
      return (await has(meaning.derivative)) ? undefined : 'part without derivative'
    case 'record':
      return (await has(original.key)) ? undefined : 'record without original'
  }
}

/** A finding about a known object. */
export type Wrong = Pick<Finding, 'kind' | 'detail'>

/** How an original in the bucket differs from its index entry. Undefined when they agree. */
export async function wrongOriginal(
  bucket: Bucket,
  { record: known, trash }: StoredOriginal,
  digests?: DigestCheck,
): Promise<Wrong | undefined> {
  const asset = await bucket.find(known.key, known)
  if (!asset) return { kind: 'original missing' }
  if (asset.size !== known.size) return sizeDiffers(asset, known)
  const record = await snapshot(bucket, recordKey(known.key))
  if (!record) return { kind: 'record missing' }
  const detail = differences(record.bytes.toString('utf8'), known, trash)
  if (detail !== undefined) return { kind: 'record differs', detail }
  const sha256 = digests && (await unlessStatus(404, digests.sha256(asset)))
  return sha256 === undefined || sha256 === known.sha256
    ? undefined
    : { kind: 'bytes differ', detail: `SHA-256 ${sha256}, ${known.sha256} in the index` }
}

/** How a derivative in the bucket differs from its index entry. Undefined when they agree. */
export async function wrongDerivative(bucket: Bucket, known: DerivativeRecord): Promise<Wrong | undefined> {
  const asset = await bucket.find(known.key, known)
  if (!asset) return { kind: 'derivative missing' }
  return asset.size === known.size ? undefined : sizeDiffers(asset, known)
}

function sizeDiffers(asset: Asset, known: { size: number }): Wrong {
  return { kind: 'size differs', detail: `${asset.size} bytes, ${known.size} in the index` }
}

/** The names of the members that differ between the record's text and the index. */
function differences(
  text: string,
  { probe: _, ...known }: OriginalRecord,
  trash?: Trash,
): string | undefined {
  try {
    const record = JSON.parse(text)
    // The record may have more members, which are not for the index. In the trash its annotations may be newer: a restore copies them.
    const { tags, metadata, focalPoint, ...facts } = known
    const expected = trash ? { ...facts, trash } : { ...facts, trash, tags, metadata, focalPoint }
    const names = Object.entries(expected).filter(([name, value]) => !isDeepStrictEqual(record[name], value))
    return names.length > 0 ? names.map(([name]) => name).join(', ') : undefined
  } catch {
    return 'invalid JSON'
  }
}

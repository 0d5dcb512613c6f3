import { parseAlias } from '../../core/aliases/record.ts'
import { type ObjectKey, recordKey } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { Problem } from '../../core/problem.ts'
import { redirectKey } from '../../core/storage/redirect-key.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { readRedirect } from '../moves/redirects.ts'
import type { Wrong } from './findings.ts'

/**
 * What is wrong with the record of an alias. Undefined when its original is stored or in the trash.
 *
 * @param options.isKnown whether the index has an original as stored or in the trash
 */
export async function wrongAlias(
  bucket: Bucket,
  { key, isKnown }: { key: ObjectKey; isKnown: (target: ObjectKey) => Promise<boolean> },
): Promise<Wrong | undefined> {
  const record = await snapshot(bucket, key)
  // Since it was listed, the alias was deleted.
  if (!record) return undefined
  try {
    const [{ key: target }] = parseAlias(key, record.bytes).versions
    // An original that is not indexed yet has a finding of its own.
    if ((await isKnown(target)) || (await bucket.find(recordKey(target)))) return undefined
    // The original was moved. While its redirect lasts, the alias delivers it.
    const redirect = await readRedirect(bucket, redirectKey(target))
    if (redirect && redirect.until > Date.now()) return undefined
    return { kind: 'alias without original', detail: target }
  } catch (error) {
    if (error instanceof Problem) throw error
    return { kind: 'alias damaged' }
  }
}

import { migrationKey, migrationStateKey } from '../../../core/backup/place.ts'
import { classifyKey, type ObjectKey, RECORDS } from '../../../core/files/object-key.ts'
import { foreignDerivatives } from '../../../core/foreign/foreign-path.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'

const CHECKS = `${RECORDS}/check/`

/** Whether an object is copied, or deleted with its source. Other programs may use both buckets. */
export function isMoved(
  key: ObjectKey,
  { withoutDerivatives, isForeign }: { withoutDerivatives: boolean; isForeign(key: string): boolean },
): boolean {
  if (key.startsWith(CHECKS)) return false
  if (withoutDerivatives && key.startsWith(foreignDerivatives)) return false
  const kind = classifyKey(key)?.kind
  if (kind === 'derivative' || kind === 'part') return !withoutDerivatives
  return kind !== undefined || key.startsWith(`${RECORDS}/`) || isForeign(key)
}

/** @throws Error when a target without a claim has files of a service */
export async function requireEmpty(target: Bucket): Promise<void> {
  for await (const found of target.list(''))
    if (classifyKey(found) || (found.startsWith(`${RECORDS}/`) && !found.startsWith(CHECKS)))
      throw new Error(
        `the target has files already (${found}), and no migration has copied them, or a service has used them since. Choose an empty target`,
      )
}

/**
 * Ends the migrations to a bucket, since a service uses it now: a further run would undo its changes.
 *
 * @param first the bucket of the first client
 * @throws Problem 503
 */
export async function endMigration(first: Bucket): Promise<void> {
  if (!(await first.find(migrationKey))) return
  const { failed } = await first.delete([migrationKey, migrationStateKey])
  if (failed[0]) throw failed[0].error
}

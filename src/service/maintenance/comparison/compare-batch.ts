import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import type { Client } from '../../../core/clients/client.ts'
import type { FileRef } from '../../../core/files/file-ref.ts'
import type { Finding } from '../../../core/files/finding.ts'
import { type ObjectKey, recordKey } from '../../../core/files/object-key.ts'
import type { FileIndex, IndexedFile } from '../../../core/ports/file-index.ts'
import type { ForgetMissing } from '../../originals/forget-missing.ts'
import type { TakeIn, TakenIn } from '../take-in.ts'
import { CONCURRENCY } from '../walk.ts'
import type { Batch, FileObjects } from './listing.ts'
import type { Pace } from './pace.ts'

/**
 * The passes of a comparison over all files. `originals` only fills lists, counters and search, and is needed when these are incomplete:
 * lists are available after it. `all` removes every difference.
 */
export type Pass = 'originals' | 'all'

/** What the comparison of a batch has changed. */
export interface Compared {
  /** Originals in the bucket. */
  files: number
  /** Originals that were added to the index. */
  added: number
  /** Index entries that were removed, because the bucket has no object of the file. */
  removed: number
  findings: Finding[]
}

/**
 * Compares the files of a batch with those that the index has in the same range of keys. Nothing of a file is read from the bucket when
 * the index has its record with the tag, its original with the size, and the keys of its derivatives as they are listed. Lists may be
 * older than the index, so each difference is confirmed by reads before the index changes.
 *
 * @param options.isDue whether a file has to be compared
 * @throws Problem 503 when bucket or index are unavailable
 */
export type CompareBatch = (
  client: Client,
  batch: Batch,
  options: { pass: Pass; isDue: (ref: FileRef) => Promise<boolean>; signal: AbortSignal },
) => Promise<Compared>

// Files read from the index at a time.
const PAGE = 250

export function createCompareBatch({
  index,
  takeIn,
  forgetMissing,
  pace,
}: {
  index: FileIndex
  takeIn: TakeIn
  forgetMissing: ForgetMissing
  pace: Pace
}): CompareBatch {
  return async (client, batch, { pass, isDue, signal }) => {
    const listed = [...batch.files.values()]
    // The first pass lists only records.
    const files = listed.filter(
      ({ size, record }) => size !== undefined || (record && pass === 'originals'),
    ).length
    const compared: Compared = { files, added: 0, removed: 0, findings: [] }
    const unknown = new Map(batch.files)
    // Lists wait for the first pass.
    const rest = () => pace.rest(signal, { isUrgent: pass === 'originals' })

    function note(key: ObjectKey, outcome: TakenIn | undefined) {
      // What cannot be indexed remains a difference, and the last pass reports it.
      if (typeof outcome === 'object' && pass === 'all')
        compared.findings.push({ clientId: client.id, key, ...outcome })
    }

    async function takeInOriginal({ key: original }: FileObjects): Promise<void> {
      const key = recordKey(original)
      const outcome = await takeIn.original(client, key)
      note(key, outcome)
      if (outcome === 'added') compared.added += 1
    }

    async function takeInFile(listed: FileObjects, known?: IndexedFile): Promise<void> {
      // Without a record, nothing proves that its upload was complete.
      if (listed.record && !hasSameOriginal(known, listed)) await takeInOriginal(listed)
      for (const key of newDerivatives(listed, known)) note(key, await takeIn.derivative(client, key))
    }

    /** @param left derivatives whose original is missing: they are reported */
    async function forget(file: IndexedFile, left: readonly ObjectKey[] = []): Promise<void> {
      if (await forgetMissing(client, file)) compared.removed += 1
      for (const key of left) note(key, await takeIn.derivative(client, key))
    }

    /** What has to be done for a file; undefined for nothing. */
    function workFor(
      listed: FileObjects | undefined,
      known?: IndexedFile,
    ): (() => Promise<void>) | undefined {
      if (pass === 'originals') {
        if (!listed?.record) return undefined
        return known && hasSameRecord(known, listed)
          ? () => takeIn.indexed(known)
          : () => takeInOriginal(listed)
      }
      const isMissing = !listed || (!listed.record && listed.size === undefined)
      if (known && isMissing) return () => forget(known, listed?.derivatives)
      if (!listed) return undefined
      return known && isUnchanged(known, listed) ? undefined : () => takeInFile(listed, known)
    }

    async function* differences(): AsyncGenerator<() => Promise<void>> {
      for (let after: string | undefined = batch.after; after !== undefined; ) {
        const { upTo } = batch
        const part = await index.filesBetween(client.id, { after, upTo, limit: PAGE })
        for (const file of part.files) {
          const work = workFor(unknown.get(file.ref.key), file)
          unknown.delete(file.ref.key)
          if (!work || !(await isDue(file.ref))) continue
          yield work
          await rest()
        }
        await rest()
        after = part.next
      }
      for (const listed of unknown.values()) {
        const work = workFor(listed)
        if (!work || !(await isDue({ clientId: client.id, key: listed.key }))) continue
        yield work
        await rest()
      }
    }

    const work = (difference: () => Promise<void>) => difference()
    for await (const _ of mapConcurrent(differences(), { concurrency: CONCURRENCY, signal, work }));
    return compared
  }
}

function isUnchanged(known: IndexedFile, listed: FileObjects): boolean {
  return hasSameOriginal(known, listed) && newDerivatives(listed, known).length === 0
}

function hasSameOriginal(known: IndexedFile | undefined, listed: FileObjects): boolean {
  if (!known || !('record' in known.original)) return false
  return hasSameRecord(known, listed) && known.original.record.size === listed.size
}

function hasSameRecord({ original }: IndexedFile, { record }: FileObjects): boolean {
  if (!('record' in original) || original.recordTag === undefined) return false
  return original.recordTag === record?.tag
}

/** The derivatives that the index lacks. */
function newDerivatives({ derivatives }: FileObjects, known: IndexedFile | undefined): ObjectKey[] {
  if (derivatives.length === 0) return []
  const indexed = new Set(known?.derivatives.map(({ key }) => key))
  return derivatives.filter((key) => !indexed.has(key))
}

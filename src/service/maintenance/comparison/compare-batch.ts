import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import type { Client } from '../../../core/clients/client.ts'
import type { Finding } from '../../../core/files/finding.ts'
import { type ObjectKey, recordKey } from '../../../core/files/object-key.ts'
import type { FileIndex, IndexedFile } from '../../../core/ports/file-index.ts'
import type { ForgetMissing } from '../../originals/forget-missing.ts'
import { CONCURRENCY } from '../scan.ts'
import type { TakeIn, TakenIn } from '../take-in.ts'
import type { IsDue } from './due.ts'
import type { Batch, FileObjects } from './listing.ts'
import type { Pace } from './pace.ts'

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
 * Compares the files of a batch with those that the index has in the same range of keys. Nothing of a file is read when the index has
 * its record with the tag, its original with the size and its derivatives as they are listed. Lists may be older than
 * the index, so each difference is confirmed by reads before the index changes.
 *
 * @throws Problem 503 when bucket or index are unavailable
 */
export type CompareBatch = (
  client: Client,
  batch: Batch,
  options: { isDue: IsDue; signal: AbortSignal },
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
  return async (client, batch, { isDue, signal }) => {
    const compared: Compared = { files: batch.files.size, added: 0, removed: 0, findings: [] }
    const unknown = new Map(batch.files)

    const note = (key: ObjectKey, outcome: TakenIn | undefined) => {
      if (typeof outcome === 'object') compared.findings.push({ clientId: client.id, key, ...outcome })
      return outcome
    }

    async function takeInFile(listed: FileObjects, known?: IndexedFile): Promise<void> {
      const isSame = known !== undefined && hasSameOriginal(known, listed)
      // Without a record, nothing proves that its upload was complete.
      if (listed.record && !isSame) {
        const key = recordKey(listed.key)
        if (note(key, await takeIn.original(client, key)) === 'added') compared.added += 1
      }
      for (const key of newDerivatives(listed, known)) note(key, await takeIn.derivative(client, key))
    }

    async function forget(file: IndexedFile): Promise<void> {
      if (await forgetMissing(client, file)) compared.removed += 1
    }

    async function* differences(): AsyncGenerator<() => Promise<void>> {
      for (let after: string | undefined = batch.after; after !== undefined; ) {
        const { upTo } = batch
        const part = await index.filesBetween(client.id, { after, upTo, limit: PAGE })
        for (const file of part.files) {
          const listed = unknown.get(file.ref.key)
          unknown.delete(file.ref.key)
          if (isUnchanged(file, listed) || !(await isDue(file.ref))) continue
          yield () => (listed ? takeInFile(listed, file) : forget(file))
          await pace.rest(signal)
        }
        await pace.rest(signal)
        after = part.next
      }
      for (const listed of unknown.values()) {
        if (!(await isDue({ clientId: client.id, key: listed.key }))) continue
        yield () => takeInFile(listed)
        await pace.rest(signal)
      }
    }

    const work = (difference: () => Promise<void>) => difference()
    for await (const _ of mapConcurrent(differences(), { concurrency: CONCURRENCY, signal, work }));
    return compared
  }
}

function isUnchanged(known: IndexedFile, listed: FileObjects | undefined): boolean {
  if (!listed || !hasSameOriginal(known, listed)) return false
  // The index refuses the derivatives of an original in the trash.
  return known.original.state === 'trashed' || newDerivatives(listed, known).length === 0
}

function hasSameOriginal({ original }: IndexedFile, { record, size }: FileObjects): boolean {
  if (!('record' in original) || original.recordTag === undefined) return false
  return original.recordTag === record?.tag && original.record.size === size
}

/** The derivatives that the index lacks. */
function newDerivatives({ derivatives }: FileObjects, known: IndexedFile | undefined): ObjectKey[] {
  if (derivatives.length === 0) return []
  const indexed = new Set(known?.derivatives.map(({ key }) => key))
  return derivatives.filter((key) => !indexed.has(key))
}

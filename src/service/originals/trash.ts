import type { Client } from '../../core/clients/client.ts'
import type { FileRef } from '../../core/files/file-ref.ts'
import { countDerivatives, type ObjectKey, type OriginalName } from '../../core/files/object-key.ts'
import { originalCandidates, type PathCandidates } from '../../core/files/request-path.ts'
import type { OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'
import type { RecordChanges } from '../../core/ports/index/record-changes.ts'
import { isSameInBucket } from '../../core/ports/index/same-record.ts'
import { fileNotFound, Problem, unavailable, unlessStatus } from '../../core/problem.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'
import type { OriginalEvents } from './original-events.ts'
import type { BucketRecord, FoundOriginal, Originals } from './originals.ts'
import { noteRecordTag } from './record-tag.ts'
import type { Records } from './records.ts'
import type { Removed } from './removed.ts'

/**
 * Soft delete. A delete changes the index first, then the record in the bucket. A restore changes the record first, then the index.
 * So after an interruption, an index that is rebuilt from the bucket has the file.
 */
export interface SoftDeletes {
  /**
   * Moves an original to the trash: it is no longer delivered or transformed, but its bytes remain.
   * @returns `already` when it was in the trash; undefined when it does not exist, is deleted permanently, or could not be
   *   restored later
   * @throws Problem 503
   */
  softDelete(
    client: Client,
    key: ObjectKey,
    options: { keepMs: number },
  ): Promise<Required<Removed> | 'already' | undefined>
  /** Restores the original of a path. @throws Problem 404, also after its retention, 409 when it is not deleted */
  restore(client: Client, meanings: PathCandidates): Promise<FoundOriginal>
}

// Time limit of the put and the steps around it.
const LEASE_MS = 60_000

export function createSoftDeletes({
  index,
  originals,
  records,
  originalEvents,
  scans,
  now = Date.now,
}: {
  index: OriginalIndex & Pick<RecordChanges, 'beginChange' | 'endChange'>
  originals: Originals
  records: Records
  originalEvents: OriginalEvents
  scans: Pick<ScanQueue, 'resume'>
  now?: () => number
}): SoftDeletes {
  /**
   * Marks a change, so that a sweep finds it when it ends in the middle, and makes the index agree with the record in the bucket. A full
   * index may refuse the mark, but not the change.
   */
  async function marked<T>(ref: FileRef, work: () => Promise<T>): Promise<T> {
    const mark = { ref, until: now() + LEASE_MS }
    await unlessStatus(503, index.beginChange(mark))
    const result = await work()
    await unlessStatus(503, index.endChange(mark))
    return result
  }

  async function restoreOne(client: Client, name: OriginalName): Promise<FoundOriginal | undefined> {
    const { key } = name
    const ref = { clientId: client.id, key }
    // An original that the index has lost is indexed first, in the state of its record.
    if (!(await index.find(ref)).original) await originals.resolve(client, { full: name })
    const known = (await index.find(ref)).original
    if (known?.state === 'stored') throw notDeleted()
    if (known?.state !== 'trashed' || known.trash.until <= now()) return undefined
    const work = async (signal: AbortSignal) => {
      const present = await originals.inBucket(client, key)
      if (!present) return undefined
      const { record } = present
      await scans.resume(client, record)
      return marked(ref, () => putRestored(known.record, record, signal))
    }
    const putRestored = async (former: OriginalRecord, record: OriginalRecord, signal: AbortSignal) => {
      const recordTag = await records.put(client, record, { signal })
      if (!(await index.restore(ref, now()))) {
        // Another request restored it, or deleted it permanently, or the index was emptied.
        await records.takeBack(client, key)
        return originals.resolve(client, { full: name })
      }
      // Again: the scan of a file that was still in the trash has ended without a result.
      await scans.resume(client, record)
      originalEvents.restored(client, record)
      const restored = { record, recordTag }
      if (isSameInBucket(former, record))
        await noteRecordTag(index, client, { state: 'stored', record: former }, restored)
      // The index has lost a change of the record that was made before the delete.
      else await unlessStatus(404, records.amend(client, record, { recordTag }))
      return { name, record }
    }
    return records.withLock(client, key, work)
  }

  return {
    softDelete: (client, key, { keepMs }) => {
      const ref = { clientId: client.id, key }
      const work = async (signal: AbortSignal) => {
        const present = await originals.inBucket(client, key)
        return present && marked(ref, () => moveToTrash(present, signal))
      }
      const moveToTrash = async (present: BucketRecord, signal: AbortSignal) => {
        const at = now()
        const taken = await index.trash(ref, { at, until: at + keepMs })
        const { original } = await index.find(ref)
        // It was deleted permanently in between.
        if (original?.state === 'going' || original?.state === 'gone') return undefined
        // The index has lost the step, or the file. Without this, the delete would continue as a permanent one.
        if (original?.state !== 'trashed') throw unavailable('The file could not be deleted yet. Retry.')
        // If another process began this soft delete and died, finish it.
        if (!taken && present.trash) return 'already'
        const { trash } = original
        const recordTag = await records.put(client, present.record, { trash, signal })
        if ((await index.find(ref)).original?.state !== 'trashed') await records.takeBack(client, key)
        const derivatives = taken ?? (await index.look(ref))?.derivatives.map((one) => one.key) ?? []
        const { until } = trash
        originalEvents.trashed(client, present.record, { derivatives, until })
        await noteRecordTag(index, client, original, { record: present.record, recordTag })
        return { key, derivatives: countDerivatives(derivatives), until }
      }
      return records.withLock(client, key, work)
    },

    async restore(client, meanings) {
      for (const name of originalCandidates(meanings)) {
        const restored = await restoreOne(client, name)
        if (restored) return restored
      }
      throw fileNotFound()
    },
  }
}

function notDeleted(): Problem {
  return new Problem({
    status: 409,
    code: 'not_deleted',
    detail: 'expected a deleted file to restore but this one is not deleted',
  })
}

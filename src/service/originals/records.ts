import { Readable } from 'node:stream'
import { withExclusiveLock } from '../../core/async/cross-process-mutex.ts'
import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, recordKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { OriginalIndex, OriginalRecord, Trash } from '../../core/ports/file-index.ts'
import type { RecordChanges } from '../../core/ports/index/record-changes.ts'
import { isSameInBucket } from '../../core/ports/index/same-record.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { fileNotFound, type Problem, unavailable } from '../../core/problem.ts'
import { deleteAll } from './delete-objects.ts'
import { mayLandLater } from './late-puts.ts'

/** The records of originals in the bucket. A lock across all processes serializes the changes of a record. */
export interface Records {
  /** Runs `work` while no other request changes the record of this original. @param options.limitMs default: 15 s */
  withLock<T>(
    client: Client,
    key: ObjectKey,
    work: (signal: AbortSignal) => Promise<T>,
    options?: { signal?: AbortSignal; limitMs?: number },
  ): Promise<T>
  /** Writes a record to the bucket. @returns the tag of its object, where the bucket states it */
  put(
    client: Client,
    record: OriginalRecord,
    options: { trash?: Trash; signal: AbortSignal },
  ): Promise<string | undefined>
  /**
   * Copies a record into the index.
   * @param options.recordTag of the object that has this record, without the mark of the trash
   * @param options.from the record from which this one was made. When the index has another one, a later change has won: this process was
   *   paused for longer than its lock lasts
   * @throws Problem 404 when the original was deleted in between; then the record is deleted too; 503 when the index has lost it, or has
   *   another record than `from`
   */
  amend(
    client: Client,
    record: OriginalRecord,
    options?: { recordTag?: string | undefined; from?: OriginalRecord },
  ): Promise<OriginalRecord>
  /** Deletes a record that was put after its original was deleted. @returns false when the bytes exist: the index has lost them */
  takeBack(client: Client, key: ObjectKey): Promise<boolean>
}

// Time for three requests to a slow S3 and some to the index.
const LIMIT_MS = 15_000
// The only other change of a record in the index is its probe, once.
const ATTEMPTS = 5

export function createRecords({
  index,
  buckets,
  locks,
  now = Date.now,
}: {
  index: OriginalIndex & Pick<RecordChanges, 'beginChange'>
  buckets: Buckets
  locks: Locks
  now?: () => number
}): Records {
  async function takeBackOnce(client: Client, key: ObjectKey): Promise<boolean> {
    const bucket = buckets.of(client)
    // An emptied index does not have the original, although its bytes exist.
    if (await bucket.find(key)) return false
    await deleteAll(bucket, [recordKey(key)])
    return true
  }

  const takeBack: Records['takeBack'] = (client, key) =>
    mayLandLater(takeBackOnce(client, key), { index, ref: { clientId: client.id, key }, now: now() })

  return {
    withLock: (client, key, work, options = {}) =>
      withExclusiveLock(locks, `record ${client.id} ${key}`, work, { limitMs: LIMIT_MS, ...options }),

    async put(client, record, { trash, signal }) {
      const bytes = Readable.from([serializeRecord(record, trash)])
      let stored: string | undefined
      const tagged = (tag: string) => {
        stored = tag
      }
      const options = { mediaType: 'application/json', freesRoom: trash !== undefined, signal, tagged }
      const ref = { clientId: client.id, key: record.key }
      const put = buckets.of(client).put(recordKey(record.key), bytes, options)
      await mayLandLater(put, { index, ref, now: now() })
      return stored
    },

    async amend(client, record, { recordTag, from } = {}) {
      const { key } = record
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const { original } = await index.find({ clientId: client.id, key })
        if (original?.state !== 'stored') {
          if ((await takeBack(client, key)) || original) throw fileNotFound()
          throw unavailable('The index is being rebuilt. Retry in a few seconds.')
        }
        const { probe } = original.record
        if (
          isSameInBucket(original.record, record) &&
          (recordTag ?? original.recordTag) === original.recordTag
        )
          return original.record
        if (from && !isSameInBucket(original.record, from) && !isSameInBucket(original.record, record))
          throw changed()
        const amended = probe === undefined ? record : { ...record, probe }
        if (await index.amend(client.id, original.record, amended, recordTag)) return amended
      }
      throw changed()
    },

    takeBack,
  }
}

function changed(): Problem {
  return unavailable('Other requests changed this file at the same time. Retry.')
}

/** The JSON of an original's record in the bucket. */
export function serializeRecord({ probe: _, ...record }: OriginalRecord, trash?: Trash): Buffer {
  return Buffer.from(JSON.stringify(trash ? { ...record, trash } : record))
}

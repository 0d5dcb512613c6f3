import { anySignal } from '../../../core/async/any-signal.ts'
import type { Client } from '../../../core/clients/client.ts'
import type { ResumableRef } from '../../../core/files/resumable-key.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import type { Locks } from '../../../core/ports/locks.ts'
import { Problem } from '../../../core/problem.ts'
import { isStillStoring, stillStoring } from '../resumable/finish-resumable.ts'
import { uploadIsComplete } from '../resumable/resumable-problems.ts'
import { type ResumableRecord, readResumable } from '../resumable/resumable-record.ts'
import type { Assemble } from './assemble.ts'
import { finishLimits } from './times.ts'

// How long an abort waits for a request that joins the parts, and for one that stores the file.
const ABORT_WAIT_MS = 10_000
const STORING_WAIT_MS = 1000
/** The result of an abort, in place of the key of an original. */
export const ABORTED = ''

/** The lock under which an upload is stored or aborted. */
export const lockOf = ({ clientId, id }: ResumableRef) => `resumable ${clientId} ${id}`

/** Whether it is complete. A sweep stores it if no request does. */
function isBeingStored(record: ResumableRecord | undefined): boolean {
  return record?.direct?.isComplete === true && !record.stored
}

/** How unfinished direct uploads end. */
export interface Aborts {
  /**
   * Deletes a direct upload, unless its file is being stored. One that is complete is deleted while no process stores it.
   * @throws Problem 409 while the file is being stored, or when it was stored during this call; 503
   */
  abort(client: Client, ref: ResumableRef): Promise<void>
  /** As `abort`, of a direct upload that has expired. @returns false for one that has not, or is being stored @throws Problem 503 */
  expire(client: Client, ref: ResumableRef): Promise<boolean>
}

/** @param options.signal aborted when the service stops */
export function createAborts({
  bucket,
  locks,
  assemble,
  discard,
  signal: stopping,
  now,
}: {
  bucket: Bucket
  locks: Locks
  assemble: Pick<Assemble, 'endOf'>
  /** Deletes an upload in any state. */
  discard: (client: Client, ref: ResumableRef, record: ResumableRecord) => Promise<void>
  signal: AbortSignal
  now: () => number
}): Aborts {
  /** Under the lock of `finish`, so that an upload is either aborted or stored. */
  async function abort(
    client: Client,
    ref: ResumableRef,
    check: (record: ResumableRecord) => Promise<void> = async () => {},
  ): Promise<void> {
    const waitMs = isBeingStored(await readResumable(bucket, ref)) ? STORING_WAIT_MS : ABORT_WAIT_MS
    const end = new AbortController()
    const timer = setTimeout(() => end.abort(), waitMs)
    const { signal, leave } = anySignal([stopping, end.signal])
    try {
      for (;;) {
        let isOwn = false
        const work = async () => {
          isOwn = true
          // The wait is over. To delete the parts may take longer.
          clearTimeout(timer)
          const record = await readResumable(bucket, ref)
          if (record) await check(record)
          if (record) await discard(client, ref, record)
          return ABORTED
        }
        const result = await locks
          .share(lockOf(ref), work, { signal, ...finishLimits({}) })
          .catch((error) => {
            if (isOwn && isStillStoring(error)) throw uploadIsComplete()
            // Another request could not complete it.
            if (isOwn || signal.aborted) throw error
          })
        if (result === ABORTED) return
        // Another request has completed it.
        if (result !== undefined) throw uploadIsComplete()
      }
    } catch (error) {
      if (signal.aborted && !stopping.aborted) throw uploadIsComplete()
      throw error
    } finally {
      clearTimeout(timer)
      leave()
    }
  }

  async function expire(client: Client, ref: ResumableRef): Promise<boolean> {
    const check = async (record: ResumableRecord) => {
      // A request has completed it since then: a sweep stores it.
      if (isBeingStored(record)) throw stillStoring()
      const { at, isJoined } = await assemble.endOf(ref, record)
      if (isJoined || at > now()) throw stillStoring()
    }
    try {
      await abort(client, ref, check)
      return true
    } catch (error) {
      if (error instanceof Problem && error.code === uploadIsComplete().code) return false
      throw error
    }
  }

  return { abort: (client, ref) => abort(client, ref), expire }
}

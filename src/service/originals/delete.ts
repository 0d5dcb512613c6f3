import type { Client } from '../../core/clients/client.ts'
import type { FileRef } from '../../core/files/file-ref.ts'
import {
  countDerivatives,
  type ObjectKey,
  type OriginalName,
  recordKey,
} from '../../core/files/object-key.ts'
import { originalCandidates, type PathCandidates } from '../../core/files/request-path.ts'
import type { Log } from '../../core/log.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type {
  IndexMaintenance,
  OriginalEntry,
  OriginalIndex,
  OriginalRecord,
} from '../../core/ports/file-index.ts'
import type { RemovalCause } from '../../core/ports/index/steps.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { PendingStores } from '../derivatives/pending-stores.ts'
import type { Agree } from './agree.ts'
import { deleteAll, hasOnlyLatePuts, withParts } from './delete-objects.ts'
import type { OriginalEvents } from './original-events.ts'
import type { Originals } from './originals.ts'
import type { Removed } from './removed.ts'
import type { SoftDeletes } from './trash.ts'

/** Deletes originals with their derivatives. */
export interface Removals {
  /**
   * Deletes the original of a path. If the client's rules retain deleted files, it moves to the trash, unless `isPermanent`.
   * @throws Problem 404 when there is no such original, 503 when some objects could not be deleted yet (a sweep continues)
   */
  remove(client: Client, meanings: PathCandidates, isPermanent?: boolean): Promise<Removed>
  /** Permanently deletes an original that was moved to another key. @throws Problem 404, 503 as {@link remove} */
  removeMoved(client: Client, name: OriginalName, movedTo: ObjectKey): Promise<Removed>
  /** Rolls back failed uploads. Never throws: a sweep deletes the rest when the lease is over. */
  abandon(client: Client, uploads: readonly FailedUpload[]): Promise<void>
  /**
   * Finishes the work of a dead process (a delete, a tombstone, an upload), and deletes trash after its retention. A complete upload
   * is stored instead: its client may have received a 200, and the index may have lost a step by a restore or a failover.
   */
  sweep(client: Client, ref: FileRef): Promise<void>
  /**
   * Deletes the record and the derivatives of an original that does not exist: puts that were executed after its delete.
   * @returns false while its delete is in progress
   * @throws Problem 503
   */
  sweepLatePuts(client: Client, ref: FileRef): Promise<boolean>
}

export interface FailedUpload {
  key: ObjectKey
  /** Whether a put may still complete in the bucket: it failed after all its bytes had been sent. */
  mayLand: boolean
}

interface TakeOptions {
  cause: RemovalCause
  /** As in {@link FailedUpload}. Default: false. */
  mayLand?: boolean
  /** Whether the index has all of its derivatives. Default: true for a failed upload, which has none; else if it was compared. */
  isKnown?: boolean
}

interface Taken {
  /** Keys of the deleted derivatives and their parts. */
  derivatives: ObjectKey[]
  /** Whether this call removed the entry, not another process. */
  finished: boolean
}

// After this time without progress, another process continues a delete. It is also the time in which a put of a failed upload may
// still complete: a request to S3 is aborted after `S3_TIMEOUT_MS` of silence, at most 15 s.
const LEASE_MS = 60_000

export function createRemovals({
  index,
  buckets,
  originals,
  trash,
  agree,
  pendingStores,
  originalEvents,
  log,
  now = Date.now,
}: {
  index: OriginalIndex & Pick<IndexMaintenance, 'run'>
  buckets: Buckets
  originals: Originals
  trash: SoftDeletes
  agree: Agree
  pendingStores: PendingStores
  originalEvents: OriginalEvents
  log: Log
  now?: () => number
}): Removals {
  /**
   * Deletes an original in all steps.
   * @returns undefined when the state of the original does not allow it
   */
  async function take(
    client: Client,
    ref: FileRef,
    { cause, mayLand = false, ...options }: TakeOptions,
  ): Promise<Taken | undefined> {
    const before = await index.run(ref)
    const indexed = await index.beginRemoval(ref, { cause, leaseUntil: now() + LEASE_MS, now: now() })
    if (!indexed) return undefined
    const bucket = buckets.of(client)
    // This includes its derivatives, whose keys begin with the key of the original.
    if (cause === 'sweep') await bucket.abortPuts(ref.key)
    await deleteAll(bucket, [ref.key])
    const after = await index.run(ref)
    // A reindex ignores derivatives of an original in the state `going`. If one ended in between, `indexed` may lack some.
    const wasCompared = before.isCompared && after.isCompared && before.id === after.id
    const { isKnown = cause === 'abandon' || wasCompared } = options
    const derivatives = await withParts(bucket, ref.key, { indexed, isKnown })
    await deleteAll(bucket, [...derivatives])
    await deleteAll(bucket, [recordKey(ref.key)])
    // The entry remains `going`: a sweep deletes the objects again when the lease is over, and then removes the entry.
    if (mayLand) return { derivatives: [...derivatives], finished: false }
    const finished = await index.finishRemoval(ref, now())
    // The index was emptied in between, and a request has indexed the original again before its bytes were deleted.
    if (!finished && (await index.find(ref)).original?.state === 'stored')
      return take(client, ref, { cause: 'delete' })
    return { derivatives: [...derivatives], finished }
  }

  /** Deletes one candidate of a path. @returns undefined when there is no such original */
  async function removeOne(
    client: Client,
    name: OriginalName,
    { keepSeconds, cause, movedTo }: { keepSeconds?: number; cause: RemovalCause; movedTo?: ObjectKey },
  ): Promise<Removed | undefined> {
    const ref = { clientId: client.id, key: name.key }
    // The index may have lost the original or its last step. Then index it first, so that all processes see its delete.
    const { original } = await index.find(ref)
    const isUnknown = original === undefined || original.state === 'pending'
    const found = isUnknown ? await originals.resolve(client, { full: name }) : undefined
    const record = found?.record ?? recordOf(original)
    await pendingStores.ended(ref)
    if (keepSeconds !== undefined) {
      const trashed = await trash.softDelete(client, name.key, { keepMs: keepSeconds * 1000 })
      // A restore may follow at any time. A delete that continued here would then be permanent.
      if (trashed === 'already') return undefined
      if (trashed) return trashed
    }
    const taken = await take(client, ref, { cause })
    if (!taken) return undefined
    const { derivatives, finished } = taken
    // Two simultaneous deletes both succeed, but only one emits the event.
    if (finished)
      originalEvents.deleted(client, name.key, { derivatives, record, ...(movedTo ? { movedTo } : {}) })
    return { key: name.key, derivatives: countDerivatives(derivatives) }
  }

  return {
    async remove(client, meanings, isPermanent) {
      const keepSeconds = isPermanent ? undefined : client.rules?.keepDeletedSeconds
      const cause = isPermanent ? 'purge' : 'delete'
      for (const name of originalCandidates(meanings)) {
        const removed = await removeOne(client, name, {
          cause,
          ...(keepSeconds === undefined ? {} : { keepSeconds }),
        })
        if (removed) return removed
      }
      throw fileNotFound()
    },

    async removeMoved(client, name, movedTo) {
      const removed = await removeOne(client, name, { cause: 'delete', movedTo })
      if (!removed) throw fileNotFound()
      return removed
    },

    async abandon(client, uploads) {
      for (const { key, mayLand } of uploads) {
        const ref = { clientId: client.id, key }
        try {
          if (await take(client, ref, { cause: 'abandon', mayLand })) continue
          const { original } = await index.find(ref)
          // A sweep may have considered the upload dead and deleted it before its last put.
          if (original?.state === 'going') await deleteAll(buckets.of(client), [key, recordKey(key)])
          if (original) continue
          // The index was emptied since the upload began, or a sweep considered it dead: delete the objects that were put later.
          await index.beginUpload(ref, now() + LEASE_MS)
          await take(client, ref, { cause: 'abandon', mayLand })
        } catch (error) {
          log.warn(
            { err: error, client: client.id, key },
            'a failed upload could not be cleaned up; the next sweep does it',
          )
        }
      }
    },

    async sweep(client, ref) {
      let { original } = await index.find(ref)
      if (original?.state === 'pending' && (await originals.commit(client, ref.key))) return
      if (original?.state === 'trashed') {
        // The index may have lost the step of a restore.
        await agree(client, ref.key)
        original = (await index.find(ref)).original
      }
      const taken = await take(client, ref, { cause: 'sweep' })
      if (original?.state === 'trashed' && taken?.finished)
        originalEvents.deleted(client, ref.key, { derivatives: taken.derivatives, record: original.record })
    },

    async sweepLatePuts(client, ref) {
      const { original } = await index.find(ref)
      if (original) return original.state !== 'going' && original.state !== 'gone'
      if (!(await hasOnlyLatePuts(buckets.of(client), ref.key))) return true
      // From here on, no other request can store a file with this key.
      await index.beginUpload(ref, now() + LEASE_MS)
      await take(client, ref, { cause: 'abandon', isKnown: false })
      return true
    },
  }
}

function recordOf(entry: OriginalEntry | undefined): OriginalRecord | undefined {
  return entry?.state === 'stored' || entry?.state === 'trashed' ? entry.record : undefined
}

import type { Client } from '../../core/clients/client.ts'
import type { FileRef } from '../../core/files/file-ref.ts'
import {
  countDerivatives,
  derivativePrefix,
  type ObjectKey,
  partsPrefix,
  recordKey,
} from '../../core/files/object-key.ts'
import { originalCandidates, type PathCandidates } from '../../core/files/request-path.ts'
import type { Log } from '../../core/log.ts'
import type { Bucket, Buckets } from '../../core/ports/bucket.ts'
import type { EventBus } from '../../core/ports/event-bus.ts'
import type { IndexMaintenance, OriginalIndex, RemovalCause } from '../../core/ports/file-index.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { Answered } from '../derivatives/answered.ts'
import type { Agree } from './agree.ts'
import { deleteAll } from './delete-objects.ts'
import type { Originals } from './originals.ts'
import type { Removed } from './removed.ts'
import type { SoftDeletes } from './trash.ts'

/** Takes originals away, with everything derived from them. */
export interface Removals {
  /**
   * Deletes the original that a path means: for the time that its client's rules name it is kept in the trash, unless it is to
   * be gone for good.
   * @throws Problem 404 when there is none, 503 when some of it could not be deleted yet (a sweep goes on with it)
   */
  remove(client: Client, meanings: PathCandidates, isPermanent?: boolean): Promise<Removed>
  /** Takes back uploads that failed. Throws nothing: what stays is swept when its lease is over. */
  abandon(client: Client, uploads: readonly FailedUpload[]): Promise<void>
  /**
   * Ends what a dead process left: a delete, a tombstone, an upload; and what has been in the trash for its time. An upload
   * that is all there is kept: perhaps it was this index that has lost a step, after a restore or a failover, and its sender
   * holds a 200.
   */
  sweep(client: Client, ref: FileRef): Promise<void>
}

export interface FailedUpload {
  key: ObjectKey
  /** Whether the bucket may still store something of it: a put that failed when all its bytes had been sent. */
  mayLand: boolean
}

/**
 * An original's derivatives with their parts. The index knows each of them before its bytes are put, unless it may have
 * lost steps. Only then the bucket is asked for all, since on disk that reads the whole folder: 300 ms at 100,000 files.
 */
async function withParts(
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

interface Taken {
  /** With their parts. */
  derivatives: ObjectKey[]
  /** Whether nobody else has. */
  finished: boolean
}

// How long a delete may be silent before another process goes on with it. And how long after an upload has failed a put
// of it may land: a request to S3 is given up when it has been silent for 3.5 s.
const LEASE_MS = 60_000

export function createRemovals({
  index,
  buckets,
  originals,
  trash,
  agree,
  answered,
  events,
  log,
  now = Date.now,
}: {
  index: OriginalIndex & Pick<IndexMaintenance, 'run'>
  buckets: Buckets
  originals: Originals
  trash: SoftDeletes
  agree: Agree
  answered: Answered
  events: EventBus
  log: Log
  now?: () => number
}): Removals {
  /**
   * @returns the derivatives that went, and whether it was this call that finished; undefined when the original's
   *   state does not allow it
   */
  async function take(
    client: Client,
    ref: FileRef,
    { cause, mayLand = false }: { cause: RemovalCause; mayLand?: boolean },
  ): Promise<Taken | undefined> {
    const before = await index.run()
    const indexed = await index.beginRemoval(ref, { cause, leaseUntil: now() + LEASE_MS, now: now() })
    if (!indexed) return undefined
    const bucket = buckets.of(client)
    // Of a derivative as well: its key begins with the original's.
    if (cause === 'sweep') await bucket.abortPuts(ref.key)
    await deleteAll(bucket, [ref.key])
    const after = await index.run()
    // A reindex that ends in between passes over the derivatives of an original that is going: `indexed` is without them.
    const wasCompared = before.isCompared && after.isCompared && before.id === after.id
    // Of an original that was never stored there is no derivative.
    const isKnown = cause === 'abandon' || wasCompared
    const derivatives = await withParts(bucket, ref.key, { indexed, isKnown })
    await deleteAll(bucket, [...derivatives])
    await deleteAll(bucket, [recordKey(ref.key)])
    // It stays `going`: a sweep deletes once more when the lease is over, and then forgets it.
    if (mayLand) return { derivatives: [...derivatives], finished: false }
    const finished = await index.finishRemoval(ref, now())
    // The index was emptied meanwhile, and somebody has taken in what is deleted by now.
    if (!finished && (await index.find(ref)).original?.state === 'stored')
      return take(client, ref, { cause: 'delete' })
    return { derivatives: [...derivatives], finished }
  }

  return {
    async remove(client, meanings, isPermanent) {
      const keepSeconds = isPermanent ? undefined : client.rules?.keepDeletedSeconds
      for (const name of originalCandidates(meanings)) {
        const ref = { clientId: client.id, key: name.key }
        // An original that the index has lost, wholly or its last step, is taken in first, so that its delete is known
        // to all.
        const state = (await index.find(ref)).original?.state
        if (state === undefined || state === 'pending') await originals.resolve(client, { full: name })
        await answered.ended(ref)
        if (keepSeconds !== undefined) {
          const kept = await trash.softDelete(client, name.key, { keepMs: keepSeconds * 1000 })
          if (kept) return kept
        }
        const taken = await take(client, ref, { cause: isPermanent ? 'purge' : 'delete' })
        if (!taken) continue
        const { derivatives, finished } = taken
        // Of two deletes at the same moment both have deleted, one tells.
        if (finished) events.emit('original.deleted', { clientId: client.id, key: name.key, derivatives })
        return { key: name.key, derivatives: countDerivatives(derivatives) }
      }
      throw fileNotFound()
    },

    async abandon(client, uploads) {
      for (const { key, mayLand } of uploads) {
        const ref = { clientId: client.id, key }
        try {
          if (await take(client, ref, { cause: 'abandon', mayLand })) continue
          const { original } = await index.find(ref)
          // A sweep that took it for dead may have been here before its last put.
          if (original?.state === 'going') await deleteAll(buckets.of(client), [key, recordKey(key)])
          if (original) continue
          // The index was emptied since the upload began, or a sweep took it for dead: what was put after that is to go.
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
        // The index may have lost that it was restored.
        await agree(client, ref.key)
        original = (await index.find(ref)).original
      }
      const taken = await take(client, ref, { cause: 'sweep' })
      if (original?.state === 'trashed' && taken?.finished)
        events.emit('original.deleted', { clientId: client.id, key: ref.key, derivatives: taken.derivatives })
    },
  }
}

import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import type { Client } from '../../../core/clients/client.ts'
import type { ObjectKey } from '../../../core/files/object-key.ts'
import {
  type ResumableRef,
  resumableMeaning,
  resumablePiecePrefix,
  resumableRecordKey,
  resumableRecordPrefix,
} from '../../../core/files/resumable-key.ts'
import type { Log } from '../../../core/log.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import type { ClientStore } from '../../../core/ports/client-store.ts'
import { Problem } from '../../../core/problem.ts'
import { LARGE_BYTES } from '../direct/patience.ts'
import { offsetOf, type ResumablePieces } from './pieces.ts'
import { deleteResumable, readResumable } from './resumable-record.ts'
import type { Storing } from './storing.ts'

/** Cleans up resumable uploads that are not continued. */
export interface SweepResumables {
  /**
   * Visits all uploads once. A complete upload whose process died becomes an original, or is deleted when it has expired and is
   * still refused. Expired uploads, uploads of removed clients, and pieces without an upload are deleted. The next sweep retries
   * failures.
   * @returns how many uploads were finished or deleted
   */
  (): Promise<number>
  /** Deletes all uploads of a client whose access is revoked. @throws Problem 503 */
  ofClient(clientId: string): Promise<void>
}

// An upload that needed nothing is checked again after this time only. A new process checks all at its start.
const LOOK_AGAIN_MS = 600_000
// Each failure to store a large file doubles this time, up to a day: every attempt reads and copies the file.
const FAILURES_MAX = 7
// Storing one upload takes 32 MiB of memory on S3.
const CONCURRENCY = 2

export function createSweepResumables({
  bucket,
  clients,
  storing,
  pieces,
  expireMs,
  largeBytes = LARGE_BYTES,
  log,
  now = Date.now,
}: {
  /** The first client's bucket, which holds the uploads of all clients. */
  bucket: Bucket
  clients: ClientStore
  storing: Pick<Storing, 'finish' | 'isStoring' | 'endOf' | 'expire'>
  pieces: ResumablePieces
  expireMs: number
  /** The sweep does not wait until files of this size are stored. Default: 8 GiB. */
  largeBytes?: number
  log: Log
  now?: () => number
}): SweepResumables {
  async function remove(ref: ResumableRef): Promise<void> {
    await pieces.delete(ref)
    await deleteResumable(bucket, ref)
  }

  const warn = (ref: ResumableRef) => (err: unknown) =>
    log.warn({ err, client: ref.clientId }, 'the sweep of an upload failed; the next sweep retries')

  /** The IDs of the large uploads that this sweep has begun to store. */
  const large = new Set<string>()
  /** How often in a row a large upload, by its ID, could not be stored, and when that failed last: an attempt takes hours. */
  const failures = new Map<string, { times: number; at: number }>()
  const lookAgainAt = (ref: ResumableRef, before: number) => {
    const { times, at } = failures.get(ref.id) ?? { times: 0, at: before }
    return Math.max(before, at) + Math.min(LOOK_AGAIN_MS, expireMs) * 2 ** Math.min(times, FAILURES_MAX)
  }

  function storeLarge(ref: ResumableRef, finish: () => Promise<void>): void {
    large.add(ref.id)
    finish()
      .then(() => failures.delete(ref.id))
      .catch((error) => {
        failures.set(ref.id, { times: (failures.get(ref.id)?.times ?? 0) + 1, at: now() })
        warn(ref)(error)
      })
      .finally(() => large.delete(ref.id))
  }

  /** @returns whether the upload was finished or deleted; undefined when it has to wait for others */
  async function end(client: Client | undefined, ref: ResumableRef): Promise<boolean | undefined> {
    const record = await readResumable(bucket, ref)
    if (!record) return false
    if (!client) {
      await remove(ref)
      return true
    }
    const { size, stored, isPartial, parts, direct } = record
    const { at, isJoined } = await storing.endOf(ref, record)
    const hasExpired = at <= now()
    const isComplete = async () => {
      // Its client may put the bytes again until it has stated that it is complete.
      if (direct) return direct.isComplete || isJoined
      return parts !== undefined || offsetOf(await pieces.list(ref)) === size
    }
    if (!stored && !isPartial && (await isComplete())) {
      const finish = async () => {
        try {
          await storing.finish(client, ref, record)
        } catch (error) {
          if (!hasExpired || !isRefusal(error)) throw error
          await remove(ref)
        }
      }
      if ((size ?? 0) < largeBytes) {
        await finish()
        return true
      }
      // Two that wait for requests of this process would keep a third one from being stored for hours.
      if (large.has(ref.id) || storing.isStoring(ref)) return false
      if (large.size === CONCURRENCY) return undefined
      storeLarge(ref, finish)
      return false
    }
    if (!hasExpired) return false
    // A request may complete it just now.
    if (direct && !stored) return storing.expire(client, ref)
    await remove(ref)
    return true
  }

  let lookedAt = new Map<ObjectKey, number>()
  async function ofRecord(key: ObjectKey, seen: typeof lookedAt): Promise<boolean> {
    const ref = resumableMeaning(key)?.ref
    if (!ref) return false
    const before = lookedAt.get(key)
    if (before !== undefined && lookAgainAt(ref, before) > now()) {
      seen.set(key, before)
      return false
    }
    try {
      // Another process may have added the client just now.
      if (!clients.find(ref.clientId)) await clients.refresh()
      const client = clients.find(ref.clientId)
      const hasEnded = await end(client?.removing ? undefined : client, ref)
      if (hasEnded === false) seen.set(key, now())
      return hasEnded === true
    } catch (error) {
      warn(ref)(error)
      return false
    }
  }

  let piecesLookedAt = Number.NEGATIVE_INFINITY
  async function endStrayPieces(): Promise<void> {
    if (piecesLookedAt + LOOK_AGAIN_MS > now()) return
    const refs = new Map<string, ResumableRef>()
    for await (const key of bucket.list(resumablePiecePrefix)) {
      const ref = resumableMeaning(key)?.ref
      if (ref) refs.set(resumableRecordKey(ref), ref)
    }
    for (const ref of refs.values()) {
      // A record is created before the first piece and deleted after the last one.
      const record = await readResumable(bucket, ref)
      if (!record || record.stored) await pieces.delete(ref)
    }
    piecesLookedAt = now()
  }

  async function sweep(): Promise<number> {
    const seen: typeof lookedAt = new Map()
    const ids = new Set<string | undefined>()
    let ended = 0
    const work = (key: ObjectKey) => {
      ids.add(resumableMeaning(key)?.ref.id)
      return ofRecord(key, seen)
    }
    for await (const hasEnded of mapConcurrent(bucket.list(resumableRecordPrefix), {
      concurrency: CONCURRENCY,
      work,
    }))
      if (hasEnded) ended += 1
    lookedAt = seen
    for (const id of failures.keys()) if (!ids.has(id)) failures.delete(id)
    await endStrayPieces()
    if (ended > 0) log.info({ ended }, 'cleaned up resumable uploads')
    return ended
  }

  return Object.assign(sweep, {
    async ofClient(clientId: string) {
      const refs = new Map<string, ResumableRef>()
      for (const prefix of [resumableRecordPrefix, resumablePiecePrefix])
        for await (const key of bucket.list(`${prefix}${clientId}/`)) {
          const ref = resumableMeaning(key)?.ref
          if (ref) refs.set(ref.id, ref)
        }
      for (const ref of refs.values()) await remove(ref)
    },
  })
}

/** Whether the upload itself is refused: not an outage, and not another upload in progress. */
function isRefusal(error: unknown): boolean {
  return error instanceof Problem && error.status < 500 && error.code !== 'link_busy'
}

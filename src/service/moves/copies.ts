import type { Client } from '../../core/clients/client.ts'
import { type OriginalName, parseKey } from '../../core/files/object-key.ts'
import type { PathCandidates } from '../../core/files/request-path.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLists, OriginalIndex } from '../../core/ports/file-index.ts'
import { fileNotFound, Problem, unavailable, unlessStatus } from '../../core/problem.ts'
import { originalOf } from '../files/describe.ts'
import type { Removals } from '../originals/delete.ts'
import type { OriginalEvents } from '../originals/original-events.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import type { Records } from '../originals/records.ts'
import type { ScanQueue } from '../scans/scan-queue.ts'
import { createDuplicates } from '../upload/duplicates.ts'
import type { UploadedFile } from '../upload/upload-request.ts'
import type { Redirects } from './redirects.ts'
import { type Commit, createStoreCopy } from './store-copy.ts'
import { type CopyTarget, copyName } from './target.ts'

/** One file to copy or move. */
export interface CopyRequest {
  client: Client
  from: PathCandidates
  to: CopyTarget
  signal: AbortSignal
}

/** A file after its move. */
export type MovedFile = UploadedFile & {
  /** The end of the redirect, in milliseconds since 1970. */
  redirectUntil?: number
}

/**
 * Copies and moves originals, without their derivatives. A move is a copy and then a permanent delete: a crash in between leaves
 * both files, and never none. While the index has both, the record of the source cannot change.
 */
export interface Copies {
  /**
   * Stores a copy. If the rules of the client reuse duplicates, and the folder has one, this returns it.
   * @throws Problem 400 for a target with the name of another file, 404, 409 when the target is not free, 503
   */
  copy(request: CopyRequest): Promise<UploadedFile>
  /** Moves a file. @param request.redirectMs how long its old URLs redirect; absent: no redirect. @throws as {@link copy} */
  move(request: CopyRequest & { redirectMs?: number | undefined }): Promise<MovedFile>
}

// The record of the source is locked while the source is deleted, which may take a while with many derivatives.
const MOVE_MS = 60_000

export function createCopies({
  index,
  buckets,
  originals,
  records,
  removals,
  scans,
  redirects,
  originalEvents,
  admits,
  now = Date.now,
}: {
  index: OriginalIndex & FileLists
  buckets: Buckets
  originals: Originals
  records: Records
  removals: Removals
  scans: ScanQueue
  redirects: Redirects
  originalEvents: OriginalEvents
  admits: (client: Client) => Promise<boolean>
  now?: () => number
}): Copies {
  const findDuplicates = createDuplicates({ index, buckets })
  const storeCopy = createStoreCopy({ index, buckets, originals, records, removals, scans, admits, now })

  /** The current record of an original. A change since it was found belongs to its copy. */
  async function currentRecord(client: Client, { name }: FoundOriginal) {
    const present = await originals.inBucket(client, name.key)
    if (!present || present.trash) throw fileNotFound()
    return present.record
  }

  const stored = (client: Client, { name, record }: FoundOriginal): UploadedFile => ({
    name,
    record,
    bucketUrl: buckets.of(client).urlOf(name.key),
  })

  /** A path that has a file again does not redirect. A failure does no harm: the file is found before its redirect. */
  async function dropRedirect(client: Client, { key }: OriginalName, to: CopyTarget): Promise<void> {
    if (to.sourceName !== undefined) await redirects.drop(client, key).catch(() => {})
  }

  /** Deletes the source of a move. @throws Problem 404 when another request has deleted it, 503 when both files remain */
  async function removeSource(client: Client, source: FoundOriginal, moved: FoundOriginal): Promise<void> {
    const { key } = source.name
    const ref = { clientId: client.id, key }
    try {
      await removals.removeMoved(client, source.name, moved.name.key)
    } catch (error) {
      const entry = await unlessStatus(503, index.find(ref))
      // A sweep continues the delete. The source is not delivered any more.
      if (entry?.original?.state === 'going') return
      if (!(error instanceof Problem)) throw error
      if (error.status !== 404)
        throw unavailable(
          `The file was copied to ${JSON.stringify(moved.name.key)}, but could not be deleted at its old path. Delete one of the two files.`,
          { cause: error },
        )
      // Another request has deleted the file, so its copy must not remain.
      await unlessStatus(404, removals.remove(client, { full: moved.name }, true))
      throw error
    }
  }

  return {
    async copy({ client, from, to, signal }) {
      const source = await originalOf(originals, { client, path: from })
      const name = copyName(source.name, to)
      if (client.rules?.dedupe === 'reuse' && to.sourceName === undefined) {
        const [duplicate] = await findDuplicates(client, [{ ...source.record, key: name.key }])
        const known = duplicate && parseKey(duplicate.key)
        if (known) return stored(client, { name: known, record: duplicate })
      }
      return storeCopy({ client, source, name, signal }, async (commit) => {
        const record = { ...(await currentRecord(client, source)), key: name.key, storedAt: now() }
        await commit(record, signal)
        originalEvents.stored(client, record, { copiedFrom: source.name.key })
        await dropRedirect(client, name, to)
        return stored(client, { name, record })
      })
    },

    async move({ client, from, to, redirectMs, signal }) {
      const source = await originalOf(originals, { client, path: from })
      const { key } = source.name
      const name = copyName(source.name, to)
      const move = async (commit: Commit, held: AbortSignal): Promise<MovedFile> => {
        const record = { ...(await currentRecord(client, source)), key: name.key }
        const redirectUntil = redirectMs === undefined ? undefined : now() + redirectMs
        try {
          if (redirectUntil !== undefined)
            await redirects.put(client, key, { to: name.key, until: redirectUntil }, held)
          await commit(record, held)
        } catch (error) {
          if (redirectUntil !== undefined) await redirects.drop(client, key).catch(() => {})
          throw error
        }
        originalEvents.stored(client, record, { movedFrom: key })
        await dropRedirect(client, name, to)
        await removeSource(client, source, { name, record })
        return {
          ...stored(client, { name, record }),
          ...(redirectUntil === undefined ? {} : { redirectUntil }),
        }
      }
      return storeCopy({ client, source, name, signal }, (commit) =>
        records.withLock(client, key, (held) => move(commit, held), { limitMs: MOVE_MS }),
      )
    },
  }
}

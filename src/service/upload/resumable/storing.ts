import type { Client } from '../../../core/clients/client.ts'
import { isWithin } from '../../../core/clients/secret-scope.ts'
import { isFileId, type ObjectKey, storedKey } from '../../../core/files/object-key.ts'
import type { ResumableRef } from '../../../core/files/resumable-key.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import type { Locks } from '../../../core/ports/locks.ts'
import { unavailable } from '../../../core/problem.ts'
import { ABORTED, type Aborts, createAborts, lockOf } from '../direct/abort.ts'
import { type Assemble, createAssemble } from '../direct/assemble.ts'
import { finishLimits, firstPartMs } from '../direct/times.ts'
import type { BegunUpload, LinkUploads } from '../links/link-uploads.ts'
import type { OpenedLink, SignedLinks } from '../links/upload-links.ts'
import type { UploadedFile } from '../upload-request.ts'
import type { ResumableOriginals } from './finish-resumable.ts'
import { offsetOf, type ResumablePieces } from './pieces.ts'
import { isPermanentlyRefused, notComplete, uploadNotFound } from './resumable-problems.ts'
import { deleteResumable, type ResumableRecord, readResumable, writeResumable } from './resumable-record.ts'
import type { Bearer } from './resumables.ts'

/** What all uploads in several requests have in common, however their bytes arrive: how they become originals, or are discarded. */
export interface Storing extends Aborts {
  /** @throws Problem 404 for an upload that the caller may not see */
  read(grant: Bearer, id: string): Promise<ResumableRecord>
  /** The number of received bytes. All bytes of an upload that joins others have arrived. */
  received(ref: ResumableRef, record: ResumableRecord): Promise<number>
  /** Creates the original of a complete upload: one, however often it is called. @throws as `Resumables.finish` */
  finish(client: Client, ref: ResumableRef, upload: Pick<ResumableRecord, 'size'>): Promise<ObjectKey>
  /** The original of an upload with this record, created if it is not stored. @throws as `finish`; Problem 404 when it was deleted */
  original(client: Client, ref: ResumableRef, record: ResumableRecord): Promise<UploadedFile>
  /** Whether this process is storing the file of an upload. */
  isStoring(ref: ResumableRef): boolean
  /** Deletes an upload in any state. @throws Problem 503 */
  discard(client: Client, ref: ResumableRef, record: ResumableRecord): Promise<void>
  endOf: Assemble['endOf']
  /** Whether an upload of a link is in progress. Discards one that has received no bytes for a while. */
  isUnderWay(client: Client, begun: BegunUpload): Promise<boolean>
  /** Aborts the running `finish` calls, which a sweep completes later, and starts no new ones. */
  stop(): Promise<void>
}

// A client that lost the response to its first request begins another upload. An upload in progress has a piece after this time.
const BEGUN_MS = 60_000

export function createStoring({
  bucket,
  pieces,
  resumableOriginals,
  locks,
  signedLinks,
  linkUploads,
  expireMs,
  now = Date.now,
}: {
  /** The first client's bucket, which holds the uploads of all clients. */
  bucket: Bucket
  pieces: ResumablePieces
  resumableOriginals: ResumableOriginals
  locks: Locks
  signedLinks: Pick<SignedLinks, 'reopen'>
  linkUploads: LinkUploads
  /** Retention of an unfinished upload. */
  expireMs: number
  now?: () => number
}): Storing {
  const end = new AbortController()
  const running = new Map<string, Promise<unknown>>()
  const assemble = createAssemble({ bucket, expireMs, now })

  const received: Storing['received'] = async (ref, { size = 0, parts, stored }) =>
    parts || stored ? size : offsetOf(await pieces.list(ref))

  /** @returns the original's key, as a string: processes that wait for the lock receive it as JSON */
  async function store(client: Client, ref: ResumableRef, signal: AbortSignal): Promise<string> {
    const record = await readResumable(bucket, ref)
    if (!record) throw uploadNotFound()
    if (record.stored) return record.stored.key
    let current = record
    const rename = async (fileId: string) => {
      current = { ...current, fileId }
      await writeResumable(bucket, ref, current)
    }
    const work = async () => {
      const { size } = record
      if (size === undefined || record.isPartial) throw notComplete()
      current = await assemble(ref, { ...record, size })
      if ((await received(ref, record)) !== size) throw notComplete()
      return resumableOriginals.store({ client, ref, record: { ...current, size }, rename, signal })
    }
    const key = await work().catch(async (error) => {
      if (isPermanentlyRefused(error)) await discard(client, ref, record)
      throw error
    })
    await writeResumable(bucket, ref, { ...current, stored: { key, at: now() } })
    await endOfLink(client, ref, record)
    await deletePieces(client, ref, record)
    return key
  }

  /** Deletes the pieces of an upload, and the uploads that it has joined. */
  async function deletePieces(
    client: Client,
    ref: ResumableRef,
    { parts = [] }: ResumableRecord,
  ): Promise<void> {
    await pieces.delete(ref)
    for (const { id } of parts) {
      const part = { ...ref, id }
      const record = await readResumable(bucket, part)
      if (record) await discard(client, part, record)
    }
  }

  async function discard(client: Client, ref: ResumableRef, record: ResumableRecord): Promise<void> {
    await deletePieces(client, ref, record)
    await deleteResumable(bucket, ref)
    await endOfLink(client, ref, record)
  }

  async function endOfLink(client: Client, { id }: ResumableRef, { link }: ResumableRecord): Promise<void> {
    if (link === undefined) return
    const opened = openedOf(link)
    if (opened) await linkUploads.end(client, opened.link, id)
  }

  /** Undefined when the client or the signing key no longer exists. */
  function openedOf(link: string): OpenedLink | undefined {
    try {
      return signedLinks.reopen(link)
    } catch {
      return undefined
    }
  }

  /** Whether any of its bytes have arrived. */
  async function hasBytes(ref: ResumableRef, record: ResumableRecord): Promise<boolean> {
    return (await pieces.list(ref)).length > 0 || (await assemble.partsOf(ref, record))?.length !== 0
  }

  const finish: Storing['finish'] = async (client, ref, upload) => {
    const name = lockOf(ref)
    const work = (signal: AbortSignal) => {
      const one = store(client, ref, signal).finally(() => running.delete(name))
      running.set(name, one)
      return one
    }
    const key = await locks.share(name, work, { signal: end.signal, ...finishLimits(upload) })
    if (key === ABORTED) throw uploadNotFound()
    return storedKey(key)
  }

  return {
    received,
    discard,

    async read(grant, id) {
      const record = isFileId(id) ? await readResumable(bucket, { clientId: grant.client.id, id }) : undefined
      const isFound = record && isWithin(record.folder, grant.folder ?? '')
      if (!isFound || (grant.byAddress && record.link === undefined)) throw uploadNotFound()
      return record
    },

    finish,
    isStoring: (ref) => running.has(lockOf(ref)),
    ...createAborts({ bucket, locks, assemble, discard, signal: end.signal, now }),
    endOf: assemble.endOf,

    async original(client, ref, record) {
      const key = record.stored ? storedKey(record.stored.key) : await finish(client, ref, record)
      return resumableOriginals.find(client, key)
    },

    async isUnderWay(client, { id, at }) {
      const ref = { clientId: client.id, id }
      const record = await readResumable(bucket, ref)
      if (record?.stored) return false
      const begunMs = record?.direct ? firstPartMs(record) : BEGUN_MS
      if ((record?.createdAt ?? at) + begunMs > now()) return true
      if (!record) return false
      if (await hasBytes(ref, record)) return true
      await discard(client, ref, record)
      return false
    },

    async stop() {
      end.abort(unavailable('The service is stopping. Retry in a few seconds.'))
      await Promise.allSettled(running.values())
    },
  }
}

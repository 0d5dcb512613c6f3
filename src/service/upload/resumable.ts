import { type Client, uploadMaxBytes } from '../../core/clients/client.ts'
import { folderWithin, type Grant } from '../../core/clients/grant.ts'
import { isWithin } from '../../core/clients/secret-scope.ts'
import { isFileId, newFileId, parseFolder, storedKey } from '../../core/files/object-key.ts'
import type { ResumableRef } from '../../core/files/resumable-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { badParameter, tooLarge, unavailable } from '../../core/problem.ts'
import { unauthorized } from '../clients/access.ts'
import type { ResumableOriginals } from './finish-resumable.ts'
import type { BegunUpload, LinkUploads } from './link-uploads.ts'
import { offsetOf, type ResumablePieces } from './pieces.ts'
import { isPermanentlyRefused, notComplete, uploadNotFound } from './resumable-problems.ts'
import { deleteResumable, type ResumableRecord, readResumable, writeResumable } from './resumable-record.ts'
import { type Bearer, type NewResumable, type Resumables, uploadOf } from './resumables.ts'
import type { OpenedLink, SignedLinks } from './upload-links.ts'
import { completeParts } from './upload-parts.ts'

// Reading and writing 78 GiB, the maximum that S3 stores, at 45 MB/s.
const FINISH_LIMIT_MS = 3_600_000
// A client that lost the response to its first request begins another upload. An upload in progress has a piece after this time.
const BEGUN_MS = 60_000

export function createResumables({
  bucket,
  pieces,
  resumableOriginals,
  locks,
  admits,
  signedLinks,
  linkUploads,
  maxBytes,
  expireMs,
  now = Date.now,
}: {
  /** The first client's bucket, which holds the uploads of all clients. */
  bucket: Bucket
  pieces: ResumablePieces
  resumableOriginals: ResumableOriginals
  locks: Locks
  /** Whether a client may still store files. */
  admits: (client: Client) => Promise<boolean>
  signedLinks: Pick<SignedLinks, 'read' | 'reopen'>
  linkUploads: LinkUploads
  /** Limit for the whole file. */
  maxBytes: number
  /** Retention of an unfinished upload after its start, and of the record of a finished one after it was stored. */
  expireMs: number
  now?: () => number
}): Resumables {
  const end = new AbortController()
  const storing = new Set<Promise<unknown>>()

  const refOf = ({ client }: Grant, id: string): ResumableRef => ({ clientId: client.id, id })

  async function read(grant: Bearer, id: string): Promise<ResumableRecord> {
    const record = isFileId(id) ? await readResumable(bucket, refOf(grant, id)) : undefined
    const isFound = record && isWithin(record.folder, grant.folder ?? '')
    if (!isFound || (grant.byAddress && record.link === undefined)) throw uploadNotFound()
    return record
  }

  function limitOf(client: Client, link: string | undefined): number {
    const ofLink = link === undefined ? undefined : signedLinks.reopen(link).link.maxBytes
    return Math.min(uploadMaxBytes(client, maxBytes), ofLink ?? maxBytes)
  }

  function checkSize(client: Client, size: number | undefined, link: string | undefined) {
    const limit = limitOf(client, link)
    if (size !== undefined && size > limit) throw tooLarge('an upload', limit)
  }

  /** The folder of the file. For an upload by a link, only the link decides. */
  function folderOf(grant: Grant, { folder, link }: NewResumable): string {
    if (link === undefined) return parseFolder(folderWithin(folder, grant), 'folder')
    const { folder: own } = signedLinks.read(link).link
    if (folder === undefined || folder === own) return own
    throw badParameter({
      param: 'folder',
      expected: 'no folder or the folder of the link',
      received: folder,
    })
  }

  const upTo = (offset: number, record: ResumableRecord) => uploadOf(record, { offset, now: now(), expireMs })

  /** The number of received bytes. All bytes of an upload that joins others have arrived. */
  async function received(ref: ResumableRef, { size = 0, parts, stored }: ResumableRecord): Promise<number> {
    return parts || stored ? size : offsetOf(await pieces.list(ref))
  }

  /** @returns the original's key, as a string: processes that wait for the lock receive it as JSON */
  async function store(client: Client, ref: ResumableRef, signal: AbortSignal): Promise<string> {
    const record = await read({ client }, ref.id)
    if (record.stored) return record.stored.key
    const { size } = record
    if (size === undefined || record.isPartial || (await received(ref, record)) !== size) throw notComplete()
    let current = record
    const rename = async (fileId: string) => {
      current = { ...record, fileId }
      await writeResumable(bucket, ref, current)
    }
    const stored = resumableOriginals.store({ client, ref, record: { ...record, size }, rename, signal })
    const key = await stored.catch(async (error) => {
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

  /** Whether an upload of a link is in progress. Discards an upload that has received no bytes in its first minute. */
  async function isUnderWay(client: Client, { id, at }: BegunUpload): Promise<boolean> {
    const ref = { clientId: client.id, id }
    const record = await readResumable(bucket, ref)
    if (record?.stored) return false
    if ((record?.createdAt ?? at) + BEGUN_MS > now()) return true
    if (!record) return false
    if ((await pieces.list(ref)).length > 0) return true
    await discard(client, ref, record)
    return false
  }

  return {
    async create(grant, request) {
      const { id, size, originalName, metadata, link, isPartial, parts, digests } = request
      const { client } = grant
      checkSize(client, size, link)
      const existing = parts && (await readResumable(bucket, refOf(grant, id)))
      if (existing) return upTo(existing.size ?? 0, existing)
      const record: ResumableRecord = {
        fileId: newFileId(),
        createdAt: now(),
        originalName,
        folder: folderOf(grant, request),
        ...(link === undefined ? {} : { link }),
        ...(size === undefined ? {} : { size }),
        ...(metadata ? { metadata } : {}),
        ...(digests?.length ? { digests } : {}),
        ...(isPartial ? { isPartial } : {}),
        ...(parts ? { parts: [...parts] } : {}),
      }
      const limit = limitOf(client, link)
      if (link !== undefined)
        await linkUploads.begin(client, signedLinks.read(link).link, {
          id,
          isUnderWay: (begun) => isUnderWay(client, begun),
          ...(isPartial ? { part: { bytes: size ?? limit, maxBytes: limit } } : {}),
        })
      await writeResumable(bucket, refOf(grant, id), record)
      return upTo(parts ? (size ?? 0) : 0, record)
    },

    async partsOf(grant, { id, parts, link }) {
      const existing = await readResumable(bucket, refOf(grant, id))
      if (existing?.parts) return existing.parts
      return completeParts(parts, {
        link,
        read: (part) => read(grant, part),
        received: (part, record) => received(refOf(grant, part), record),
        // It must not expire before the upload that joins it.
        renew: (part, record) => writeResumable(bucket, refOf(grant, part), { ...record, createdAt: now() }),
      })
    },

    async maxBytesOf(grant, { id, link }) {
      return limitOf(grant.client, id === undefined ? link : (await read(grant, id)).link)
    },

    async find(grant, id) {
      const record = await read(grant, id)
      return upTo(await received(refOf(grant, id), record), record)
    },

    async declareSize(grant, id, size) {
      const record = await read(grant, id)
      checkSize(grant.client, size, record.link)
      await writeResumable(bucket, refOf(grant, id), { ...record, size })
    },

    async append({ client }, id, { offset, bytes, checksum }) {
      const check = async () => {
        if (!(await admits(client))) throw unauthorized('but its client was removed during the upload')
      }
      const ref = { clientId: client.id, id }
      if (checksum) return pieces.appendChecked(ref, { offset, bytes, check, checksum })
      return pieces.append(ref, { offset, bytes, check })
    },

    async finish(grant, id) {
      const { client } = grant
      const ref = refOf(grant, id)
      const { stored } = await read(grant, id)
      const work = (signal: AbortSignal) => {
        const running = store(client, ref, signal).finally(() => storing.delete(running))
        storing.add(running)
        return running
      }
      const share = () =>
        locks.share(`resumable ${client.id} ${id}`, work, { signal: end.signal, limitMs: FINISH_LIMIT_MS })
      return resumableOriginals.find(client, storedKey(stored?.key ?? (await share())))
    },

    async remove(grant, id) {
      await discard(grant.client, refOf(grant, id), await read(grant, id))
    },

    async stop() {
      end.abort(unavailable('The service is stopping. Retry in a few seconds.'))
      await Promise.allSettled(storing)
    },
  }
}

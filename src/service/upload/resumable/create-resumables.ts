import { type Client, uploadMaxBytes } from '../../../core/clients/client.ts'
import { folderWithin, type Grant } from '../../../core/clients/grant.ts'
import { newFileId, parseFolder } from '../../../core/files/object-key.ts'
import type { ResumableRef } from '../../../core/files/resumable-key.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import { badParameter, tooLarge } from '../../../core/problem.ts'
import { unauthorized } from '../../clients/access.ts'
import type { LinkUploads } from '../links/link-uploads.ts'
import type { SignedLinks } from '../links/upload-links.ts'
import type { ResumablePieces, UploadPart } from './pieces.ts'
import { notComplete, notPartial, uploadNotFound } from './resumable-problems.ts'
import { type ResumableRecord, readResumable, writeResumable } from './resumable-record.ts'
import { type Bearer, type NewResumable, type Resumables, uploadOf } from './resumables.ts'
import type { Storing } from './storing.ts'

export function createResumables({
  bucket,
  pieces,
  storing,
  admits,
  signedLinks,
  linkUploads,
  maxBytes,
  streamedMaxBytes,
  expireMs,
  now = Date.now,
}: {
  /** The first client's bucket, which holds the uploads of all clients. */
  bucket: Bucket
  pieces: ResumablePieces
  storing: Storing
  /** Whether a client may still store files. */
  admits: (client: Client) => Promise<boolean>
  signedLinks: Pick<SignedLinks, 'read' | 'reopen'>
  linkUploads: LinkUploads
  /** Limit for the whole file. */
  maxBytes: number
  /** Limit for a file whose bytes pass through this process. At most `maxBytes`. */
  streamedMaxBytes: number
  /** Retention of an unfinished upload after its start, and of the record of a finished one after it was stored. */
  expireMs: number
  now?: () => number
}): Resumables {
  const refOf = ({ client }: Grant, id: string): ResumableRef => ({ clientId: client.id, id })

  /** @throws Problem 404, also for an upload whose client puts the bytes into the bucket itself */
  async function read(grant: Bearer, id: string): Promise<ResumableRecord> {
    const record = await storing.read(grant, id)
    if (record.direct) throw uploadNotFound()
    return record
  }

  function limitOf(client: Client, link: string | undefined, most = streamedMaxBytes): number {
    const ofLink = link === undefined ? undefined : signedLinks.reopen(link).link.maxBytes
    return Math.min(uploadMaxBytes(client, most), ofLink ?? most)
  }

  function checkSize(client: Client, { size, link, permit }: Pick<NewResumable, 'size' | 'link' | 'permit'>) {
    // Into the own bucket of a client, the bytes pass through this process.
    const limit = limitOf(client, link, permit && !client.storage ? maxBytes : streamedMaxBytes)
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

  return {
    async create(grant, request) {
      const { id, size, originalName, metadata, link, isPartial, parts, digests, annotations } = request
      const { client } = grant
      checkSize(client, request)
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
        ...(annotations ? { annotations } : {}),
        ...(isPartial ? { isPartial } : {}),
        ...(parts ? { parts: [...parts] } : {}),
      }
      const limit = limitOf(client, link)
      if (link !== undefined)
        await linkUploads.begin(client, signedLinks.read(link).link, {
          id,
          isUnderWay: (begun) => storing.isUnderWay(client, begun),
          ...(isPartial ? { part: { bytes: size ?? limit, maxBytes: limit } } : {}),
        })
      const direct = await request.permit?.().catch(async (error) => {
        // The client may use the link for another upload at once.
        if (link !== undefined) await linkUploads.end(client, signedLinks.read(link).link, id)
        throw error
      })
      const begun = direct ? { ...record, direct } : record
      await writeResumable(bucket, refOf(grant, id), begun)
      return upTo(parts ? (size ?? 0) : 0, begun)
    },

    async partsOf(grant, { id, parts, link }) {
      const existing = await readResumable(bucket, refOf(grant, id))
      if (existing?.parts) return existing.parts
      return completeParts(parts, {
        link,
        read: (part) => read(grant, part),
        received: (part, record) => storing.received(refOf(grant, part), record),
        // It must not expire before the upload that joins it.
        renew: (part, record) => writeResumable(bucket, refOf(grant, part), { ...record, createdAt: now() }),
      })
    },

    async maxBytesOf(grant, { id, link }) {
      return limitOf(grant.client, id === undefined ? link : (await read(grant, id)).link)
    },

    async find(grant, id) {
      const record = await read(grant, id)
      return upTo(await storing.received(refOf(grant, id), record), record)
    },

    async declareSize(grant, id, size) {
      const record = await read(grant, id)
      checkSize(grant.client, { size, link: record.link })
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
      const record = await read(grant, id)
      return storing.original(grant.client, refOf(grant, id), record)
    },

    async remove(grant, id) {
      await storing.discard(grant.client, refOf(grant, id), await read(grant, id))
    },
  }
}

/**
 * The complete partial uploads that another upload joins.
 *
 * @param parts their IDs, in order
 * @param options.link the signed link of the upload that joins them; `renew`: begins the lifetime of a part again
 * @throws Problem 404 for a part that does not exist, or was not begun by a link as the other was; 409 for one that is not complete,
 *   or not a part
 */
async function completeParts(
  parts: readonly string[],
  {
    link,
    read,
    received,
    renew,
  }: {
    link: string | undefined
    read: (id: string) => Promise<ResumableRecord>
    received: (id: string, record: ResumableRecord) => Promise<number>
    renew: (id: string, record: ResumableRecord) => Promise<void>
  },
): Promise<readonly UploadPart[]> {
  const found: UploadPart[] = []
  for (const id of parts) {
    const record = await read(id)
    if ((record.link === undefined) !== (link === undefined)) throw uploadNotFound()
    if (!record.isPartial) throw notPartial()
    const { size } = record
    if (size === undefined || (await received(id, record)) !== size) throw notComplete()
    await renew(id, record)
    found.push({ id, size })
  }
  return found
}

import { Readable } from 'node:stream'
import { type Client, uploadMaxBytes } from '../core/client.ts'
import {
  isFileId,
  newFileId,
  newOriginal,
  type ObjectKey,
  type OriginalName,
  parseFolder,
  parseKey,
} from '../core/object-key.ts'
import type { Bucket, Buckets } from '../core/ports/bucket.ts'
import type { FileIndex } from '../core/ports/file-index.ts'
import type { Locks } from '../core/ports/locks.ts'
import { badParameter, fileNotFound, Problem, tooLarge, unavailable } from '../core/problem.ts'
import { type ResumableRef, resumableRecordKey } from '../core/resumable-key.ts'
import { folderWithin, type Grant, isWithin } from '../core/scope.ts'
import { SNIFF_BYTES, sniff } from '../core/sniff.ts'
import { unauthorized } from './clients.ts'
import { deleteAll } from './delete-all.ts'
import type { BegunUpload, LinkUploads } from './link-uploads.ts'
import type { Originals } from './originals.ts'
import { type Checksum, offsetOf, type ResumablePieces } from './resumable-pieces.ts'
import { type ResumableRecord, readResumable, writeResumable } from './resumable-record.ts'
import type { OpenedLink, SignedLinks } from './signed-links.ts'
import type { IncomingFile, Upload, UploadedFile } from './upload.ts'

/** An upload in several requests, as it is at the moment. */
export interface ResumableUpload {
  /** Bytes of the whole; undefined while its sender does not know. */
  size: number | undefined
  /** Bytes that have come. */
  offset: number
  /** As its sender gave it. */
  metadata: ResumableRecord['metadata']
  /** Milliseconds since 1970. */
  expiresAt: number
  /** Whether it has become an original. */
  isStored: boolean
}

/** Whoever may do something with uploads: by a secret; or by the address of one, where that was begun by a signed link. */
export type Bearer = Grant & { byAddress?: true }

/** Uploads in several requests. Another client's, or one outside of a grant's folder, is not found. */
export interface Resumables {
  /** @throws Problem 400 for a folder that is none, or no bytes at all, 403, 409 for a link that is used or busy, 413 */
  create(grant: Bearer, upload: NewResumable): Promise<ResumableUpload>
  /**
   * How many bytes one may have: one that is there, or that is to be begun, by a link or without.
   * @throws Problem 403, 404
   */
  maxBytesOf(grant: Bearer, upload: { id?: string | undefined; link?: string | undefined }): Promise<number>
  /** @throws Problem 404 */
  find(grant: Bearer, id: string): Promise<ResumableUpload>
  /** Says how long an upload will be that has begun without. @throws Problem 400, 404, 413 */
  declareSize(grant: Bearer, id: string, size: number): Promise<void>
  /**
   * Keeps the bytes from an offset on; with a checksum all or none.
   * @returns the offset of the next one
   * @throws Problem 401 when its client has been removed, 460 when the bytes are not those of the checksum
   */
  append(grant: Bearer, id: string, bytes: AppendedBytes): Promise<number>
  /**
   * Makes an original of an upload that is complete: one, whoever asks and however often. One that is refused for good is
   * ended.
   * @throws Problem 404, also when the original has been deleted since; 409 while bytes are missing; 503
   */
  finish(grant: Bearer, id: string): Promise<UploadedFile>
  /** Ends an upload, whatever has come of it; an original that it has become stays. @throws Problem 404, 503 */
  remove(grant: Bearer, id: string): Promise<void>
  /** Breaks off what is being stored, for a sweep to go on with, and begins no more. */
  stop(): Promise<void>
}

export interface NewResumable extends Pick<ResumableRecord, 'metadata'> {
  id: string
  size: number | undefined
  /** As its sender calls it; may be empty. */
  originalName: string
  /** As asked for; checked here. */
  folder: string | undefined
  /** The signed link that it is begun by, its path and query. */
  link?: string | undefined
}

export interface AppendedBytes {
  offset: number
  bytes: Readable
  checksum?: Checksum | undefined
}

// 78 GiB, as much as S3 takes, from there and back, at 45 MB/s.
const FINISH_LIMIT_MS = 3_600_000
// Whoever has never got the answer to what began an upload begins another one; of what is being sent there is a piece by then.
const BEGUN_MS = 60_000

export function createResumables({
  bucket,
  buckets,
  pieces,
  index,
  locks,
  originals,
  upload,
  admits,
  signedLinks,
  linkUploads,
  maxBytes,
  expireMs,
  now = Date.now,
}: {
  /** The first client's: what has come of all uploads lies in it. */
  bucket: Bucket
  buckets: Buckets
  pieces: ResumablePieces
  index: FileIndex
  locks: Locks
  originals: Originals
  upload: Upload
  /** Whether a client may still store files. */
  admits: (client: Client) => Promise<boolean>
  signedLinks: Pick<SignedLinks, 'read' | 'reopen' | 'upload'>
  linkUploads: LinkUploads
  /** Of the whole. */
  maxBytes: number
  /** How long it is kept: of an unfinished one from its beginning on, of a finished one what it has become. */
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
    if (size === 0) throw emptyUpload()
    const limit = limitOf(client, link)
    if (size !== undefined && size > limit) throw tooLarge('an upload', limit)
  }

  /** Where it is to lie: a link says that, and nobody else. */
  function folderOf(grant: Grant, { folder, link }: NewResumable): string {
    if (link === undefined) return parseFolder(folderWithin(folder, grant), 'folder')
    const { folder: own } = signedLinks.read(link).link
    if (folder === undefined || folder === own) return own
    throw badParameter({ param: 'folder', expected: "none, or the link's own,", received: folder })
  }

  function upTo(offset: number, { size, metadata, createdAt, stored }: ResumableRecord): ResumableUpload {
    // One that is complete is finished, however old it is.
    const from = stored?.at ?? (offset === size ? now() : createdAt)
    return { size, offset, metadata, expiresAt: from + expireMs, isStored: stored !== undefined }
  }

  async function storedFile(client: Client, key: ObjectKey): Promise<UploadedFile> {
    const name = parseKey(key)
    const found = name && (await originals.resolve(client, { full: name }))
    if (!found) throw fileNotFound()
    return { ...found, bucketUrl: buckets.of(client).urlOf(key) }
  }

  async function nameOf(
    ref: ResumableRef,
    record: ResumableRecord,
    signal: AbortSignal,
  ): Promise<OriginalName> {
    const chunks: Buffer[] = []
    let length = 0
    for await (const chunk of pieces.join(ref, { size: record.size ?? 0, signal })) {
      chunks.push(chunk)
      length += chunk.length
      if (length >= SNIFF_BYTES) break
    }
    const { format } = await sniff(Buffer.concat(chunks).subarray(0, SNIFF_BYTES), record.originalName)
    return newOriginal({ folder: record.folder, format, id: record.fileId })
  }

  /** As JSON, since others may wait for it in another process. */
  async function store(client: Client, ref: ResumableRef, signal: AbortSignal): Promise<ObjectKey> {
    const record = await read({ client }, ref.id)
    if (record.stored) return record.stored.key as ObjectKey
    const { size } = record
    if (size === undefined || offsetOf(await pieces.list(ref)) !== size) throw notComplete()
    const name = await nameOf(ref, record, signal)
    // Whoever has stored it may have died before it could say so.
    if (!(await originals.resolve(client, { full: name }))) {
      const left = (await index.find({ clientId: client.id, key: name.key })).original
      if (left)
        throw unavailable('the upload is complete and will be stored in a minute', { retryAfterSeconds: 30 })
      const bytes = Readable.from(pieces.join(ref, { size, signal }), { objectMode: false })
      const files = only({ name: record.originalName, bytes })
      const request = { files, id: record.fileId, signal }
      try {
        if (record.link !== undefined) await signedLinks.upload(signedLinks.reopen(record.link), request)
        else await upload({ ...request, client, folder: record.folder || undefined })
      } catch (error) {
        if (isRefusedForGood(error)) await discard(client, ref, record)
        throw error
      }
    }
    await writeResumable(bucket, ref, { ...record, stored: { key: name.key, at: now() } })
    await endOfLink(client, ref, record)
    await pieces.delete(ref)
    return name.key
  }

  async function discard(client: Client, ref: ResumableRef, record: ResumableRecord): Promise<void> {
    await pieces.delete(ref)
    await deleteAll(bucket, [resumableRecordKey(ref)])
    await endOfLink(client, ref, record)
  }

  async function endOfLink(client: Client, { id }: ResumableRef, { link }: ResumableRecord): Promise<void> {
    if (link === undefined) return
    const opened = openedOf(link)
    if (opened) await linkUploads.end(client, opened.link, id)
  }

  /** Undefined for one whose client or key is gone. */
  function openedOf(link: string): OpenedLink | undefined {
    try {
      return signedLinks.reopen(link)
    } catch {
      return undefined
    }
  }

  /** Of one that was begun by a link; ends it when nothing has come of it. */
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
    async create(grant, asked) {
      const { id, size, originalName, metadata, link } = asked
      checkSize(grant.client, size, link)
      const record: ResumableRecord = {
        fileId: newFileId(),
        createdAt: now(),
        originalName,
        folder: folderOf(grant, asked),
        ...(link === undefined ? {} : { link }),
        ...(size === undefined ? {} : { size }),
        ...(metadata ? { metadata } : {}),
      }
      const { client } = grant
      if (link !== undefined)
        await linkUploads.begin(client, signedLinks.read(link).link, {
          id,
          isUnderWay: (begun) => isUnderWay(client, begun),
        })
      await writeResumable(bucket, refOf(grant, id), record)
      return upTo(0, record)
    },

    async maxBytesOf(grant, { id, link }) {
      return limitOf(grant.client, id === undefined ? link : (await read(grant, id)).link)
    },

    async find(grant, id) {
      const record = await read(grant, id)
      const come = record.stored ? (record.size ?? 0) : offsetOf(await pieces.list(refOf(grant, id)))
      return upTo(come, record)
    },

    async declareSize(grant, id, size) {
      const record = await read(grant, id)
      checkSize(grant.client, size, record.link)
      await writeResumable(bucket, refOf(grant, id), { ...record, size })
    },

    async append({ client }, id, { offset, bytes, checksum }) {
      const check = async () => {
        if (!(await admits(client))) throw unauthorized('but its client has been removed meanwhile')
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
      return storedFile(client, (stored?.key ?? (await share())) as ObjectKey)
    },

    async remove(grant, id) {
      await discard(grant.client, refOf(grant, id), await read(grant, id))
    },

    async stop() {
      end.abort(unavailable('the service is ending; ask again in a few seconds'))
      await Promise.allSettled(storing)
    },
  }
}

const FOR_GOOD = new Set([400, 401, 413, 415])

/** Whether it will be refused whenever it is tried again. A 403 is not: its link counts again once `APP_SECRET` is right. */
function isRefusedForGood(error: unknown): boolean {
  return error instanceof Problem && (FOR_GOOD.has(error.status) || error.code === 'link_used')
}

async function* only(file: IncomingFile): AsyncGenerator<IncomingFile> {
  yield file
}

/** 404 */
export function uploadNotFound(): Problem {
  return new Problem({
    status: 404,
    code: 'upload_not_found',
    detail: 'there is no such upload, or not any more',
  })
}

function notComplete(): Problem {
  return new Problem({
    status: 409,
    code: 'upload_incomplete',
    detail: 'expected all bytes of this upload first',
  })
}

function emptyUpload(): Problem {
  return new Problem({
    status: 400,
    code: 'empty_file',
    detail: 'expected an upload with content but received one of 0 bytes',
  })
}

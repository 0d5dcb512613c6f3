import { Readable } from 'node:stream'
import { verified } from '../../../core/bytes/expected-digests.ts'
import type { Client } from '../../../core/clients/client.ts'
import { newFileId, newOriginal, type ObjectKey, parseKey } from '../../../core/files/object-key.ts'
import { type ResumableRef, resumablePiece } from '../../../core/files/resumable-key.ts'
import type { SniffedType } from '../../../core/media/sniff/sniff.ts'
import type { Bucket, Buckets } from '../../../core/ports/bucket.ts'
import type { FileLookup } from '../../../core/ports/file-index.ts'
import { fileNotFound, Problem, retryAfter } from '../../../core/problem.ts'
import type { Removals } from '../../originals/delete.ts'
import type { Originals } from '../../originals/originals.ts'
import { type Patience, patienceFor } from '../direct/patience.ts'
import { createReadObject } from '../direct/read-object.ts'
import { sniffStart, stagedFile } from '../direct/staged-file.ts'
import type { SignedLinks } from '../links/upload-links.ts'
import type { IncomingFile, Upload, UploadedFile } from '../upload-request.ts'
import type { ResumablePieces } from './pieces.ts'
import type { ResumableRecord } from './resumable-record.ts'

/** A resumable upload whose bytes are all stored. */
export interface CompleteResumable {
  client: Client
  ref: ResumableRef
  record: ResumableRecord & { size: number }
  /** Records that the upload becomes the original with this id instead. */
  rename(fileId: string): Promise<void>
  signal: AbortSignal
}

/** Turns complete resumable uploads into originals. */
export interface ResumableOriginals {
  /**
   * Stores the original of an upload, by its link if a link began it. Does nothing when the original exists: a previous process
   * may have died between storing it and recording that. Callers run it once at a time for an upload.
   * After a failed or killed attempt, it cleans up that attempt and stores the upload under another id.
   * @throws Problem as an upload does; 503 `upload_storing` while the rest of a previous attempt must be deleted first
   */
  store(complete: CompleteResumable): Promise<ObjectKey>
  /** Finds the stored original. @throws Problem 404 when it has been deleted since then */
  find(client: Client, key: ObjectKey): Promise<UploadedFile>
}

export function createResumableOriginals({
  bucket,
  pieces,
  index,
  buckets,
  originals,
  upload,
  removals,
  signedLinks,
}: {
  /** The first client's, which holds the uploads of all clients. */
  bucket: Bucket
  pieces: ResumablePieces
  index: FileLookup
  buckets: Buckets
  originals: Originals
  upload: Upload
  removals: Pick<Removals, 'abandon'>
  signedLinks: Pick<SignedLinks, 'reopen' | 'upload'>
}): ResumableOriginals {
  const readObject = createReadObject()
  const bytesOf = ({ ref, record: { size, parts }, signal }: CompleteResumable) =>
    pieces.join(ref, { size, parts, signal })

  function fileOf(complete: CompleteResumable, sniffed: SniffedType, patience: Patience): IncomingFile {
    const { client, ref, record } = complete
    const { size, originalName: name, digests = [], direct } = record
    const verify = (bytes: AsyncIterable<Buffer>) => verified(bytes, digests)
    if (!direct) return { name, bytes: Readable.from(verify(bytesOf(complete)), { objectMode: false }) }
    const { key } = resumablePiece(ref, { start: 0, end: size })
    const staged = { key, bytes: bytesOf(complete), find: () => bucket.find(key) }
    const options = { readObject, patience, sniffed, verify }
    return stagedFile({ name, staged, size, bucket: buckets.of(client), ...options })
  }

  /** A put of a failed or killed attempt may still complete under the old key. A sweep deletes that object a minute later. */
  async function endFirstTry(client: Client, key: ObjectKey): Promise<void> {
    await removals.abandon(client, [{ key, mayLand: true }])
    const { original } = await index.find({ clientId: client.id, key })
    if (original && original.state !== 'going') throw stillStoring()
  }

  async function store(complete: CompleteResumable): Promise<ObjectKey> {
    const { client, record, rename, signal } = complete
    const what = await sniffStart(bytesOf(complete), record.originalName)
    const name = newOriginal({ folder: record.folder, format: what.format, id: record.fileId })
    if (await originals.resolve(client, { full: name })) return name.key
    if ((await index.find({ clientId: client.id, key: name.key })).original) {
      // The link counts the first attempt as a use until that attempt is cleaned up.
      if (record.link !== undefined) throw stillStoring()
      await endFirstTry(client, name.key)
      const fileId = newFileId()
      await rename(fileId)
      return store({ ...complete, record: { ...record, fileId } })
    }
    const { link, folder, annotations } = record
    const patience: Patience = record.direct ? patienceFor(record.size, { signal }) : (step) => step()
    const files = only(fileOf(complete, what, patience))
    const request = { files, id: record.fileId, sniffed: what, patience, signal }
    if (link !== undefined) await signedLinks.upload(signedLinks.reopen(link), request)
    else
      await upload({
        ...request,
        client,
        folder: folder || undefined,
        ...(annotations ? { annotations: () => annotations } : {}),
      })
    return name.key
  }

  return {
    store,

    async find(client, key) {
      const name = parseKey(key)
      const found = name && (await originals.resolve(client, { full: name }))
      if (!found) throw fileNotFound()
      return { ...found, bucketUrl: buckets.of(client).urlOf(key) }
    },
  }
}

const STORING = 'upload_storing'

/** Whether this error means that the upload is complete and will be stored without a further request. */
export function isStillStoring(error: unknown): boolean {
  return error instanceof Problem && error.code === STORING
}

/** 503 */
export function stillStoring(): Problem {
  const detail = 'The upload is complete and will be stored within two minutes.'
  return new Problem({ status: 503, code: STORING, detail, ...retryAfter(30) })
}

async function* only(file: IncomingFile): AsyncGenerator<IncomingFile> {
  yield file
}

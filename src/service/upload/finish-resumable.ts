import { Readable } from 'node:stream'
import type { Client } from '../../core/clients/client.ts'
import { newFileId, newOriginal, type ObjectKey, parseKey } from '../../core/files/object-key.ts'
import type { ResumableRef } from '../../core/files/resumable-key.ts'
import { sniffDepth } from '../../core/media/sniff/depth.ts'
import { type SniffedType, sniff } from '../../core/media/sniff/sniff.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLookup } from '../../core/ports/file-index.ts'
import { fileNotFound, Problem, retryAfter } from '../../core/problem.ts'
import type { Removals } from '../originals/delete.ts'
import type { Originals } from '../originals/originals.ts'
import { takeHead } from './incoming-bytes.ts'
import type { ResumablePieces } from './pieces.ts'
import type { ResumableRecord } from './resumable-record.ts'
import type { SignedLinks } from './upload-links.ts'
import type { IncomingFile, Upload, UploadedFile } from './upload-request.ts'

/** An upload in several requests all of whose bytes are there. */
export interface CompleteResumable {
  client: Client
  ref: ResumableRef
  record: ResumableRecord & { size: number }
  /** Writes down that the upload becomes the original with another id. */
  rename(fileId: string): Promise<void>
  signal: AbortSignal
}

/** The originals that uploads in several requests become. */
export interface ResumableOriginals {
  /**
   * Stores one, by its link where it was begun by one; unless it is there: whoever stored it may have died before it could
   * say so. One at a time for an upload.
   * A try that failed or was killed is ended first, and the upload is stored under another id.
   * @throws Problem as an upload does; 503 `upload_storing` while what is left of another try has to be taken away
   */
  store(complete: CompleteResumable): Promise<ObjectKey>
  /** One that was stored. @throws Problem 404 when it has been deleted since */
  find(client: Client, key: ObjectKey): Promise<UploadedFile>
}

// The same ones whenever it is asked, however they come: what it is, is a part of its key. As many as mostly come at once of a
// form's file, which is asked about all of these.
const HEAD_BYTES = 64 * 1024

export function createResumableOriginals({
  pieces,
  index,
  buckets,
  originals,
  upload,
  removals,
  signedLinks,
}: {
  pieces: ResumablePieces
  index: FileLookup
  buckets: Buckets
  originals: Originals
  upload: Upload
  removals: Pick<Removals, 'abandon'>
  signedLinks: Pick<SignedLinks, 'reopen' | 'upload'>
}): ResumableOriginals {
  async function sniffed({ ref, record, signal }: CompleteResumable): Promise<SniffedType> {
    const { head, rest } = await takeHead(pieces.join(ref, { size: record.size, signal }), HEAD_BYTES)
    await rest.return?.()
    return sniff(head.subarray(0, Math.max(HEAD_BYTES, sniffDepth(head))), record.originalName)
  }

  /** Of a try that failed or was killed, a put may still land under the old key: a sweep deletes that a minute later. */
  async function endFirstTry(client: Client, key: ObjectKey): Promise<void> {
    await removals.abandon(client, [{ key, mayLand: true }])
    const { original } = await index.find({ clientId: client.id, key })
    if (original && original.state !== 'going') throw stillStoring()
  }

  async function store(complete: CompleteResumable): Promise<ObjectKey> {
    const { client, ref, record, rename, signal } = complete
    const what = await sniffed(complete)
    const name = newOriginal({ folder: record.folder, format: what.format, id: record.fileId })
    if (await originals.resolve(client, { full: name })) return name.key
    if ((await index.find({ clientId: client.id, key: name.key })).original) {
      // Its link counts the first try until that has been taken away.
      if (record.link !== undefined) throw stillStoring()
      await endFirstTry(client, name.key)
      const fileId = newFileId()
      await rename(fileId)
      return store({ ...complete, record: { ...record, fileId } })
    }
    const bytes = Readable.from(pieces.join(ref, { size: record.size, signal }), { objectMode: false })
    const files = only({ name: record.originalName, bytes })
    const request = { files, id: record.fileId, sniffed: what, signal }
    if (record.link !== undefined) await signedLinks.upload(signedLinks.reopen(record.link), request)
    else await upload({ ...request, client, folder: record.folder || undefined })
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

/** Whether an upload is complete and will be stored without its sender. */
export function isStillStoring(error: unknown): boolean {
  return error instanceof Problem && error.code === STORING
}

/** 503 */
function stillStoring(): Problem {
  const detail = 'The upload is complete and will be stored within two minutes.'
  return new Problem({ status: 503, code: STORING, detail, ...retryAfter(30) })
}

async function* only(file: IncomingFile): AsyncGenerator<IncomingFile> {
  yield file
}

import type { Client } from '../../../core/clients/client.ts'
import type { Annotations } from '../../../core/files/annotations.ts'
import { newFileId } from '../../../core/files/object-key.ts'
import { resumablePiece } from '../../../core/files/resumable-key.ts'
import { type Format, formatOfMediaType } from '../../../core/media/formats.ts'
import type { Bucket, PutPermit } from '../../../core/ports/bucket.ts'
import { directUploadsOff, uploadExpired, uploadNotFound } from '../resumable-problems.ts'
import type { ResumableRecord } from '../resumable-record.ts'
import type { Bearer, Resumables } from '../resumables.ts'
import { checkType } from '../rules/upload-rules.ts'
import type { Storing } from '../storing.ts'
import type { SignedLinks } from '../upload-links.ts'
import type { UploadedFile } from '../upload-request.ts'

/** A file that a client wants to send to the bucket itself. */
export interface NewDirectUpload {
  name: string
  /** In bytes, from 1. */
  size: number
  /** The media type that the client expects. The bytes decide: it only lets an upload fail early. */
  type?: string | undefined
  /** The requested folder, not yet validated. */
  folder: string | undefined
  /** The digest of the file, in hexadecimal. */
  sha256?: string | undefined
  annotations?: Annotations | undefined
  /** Path and query of the signed link that begins it. */
  link?: string | undefined
}

/** The requests that a client must send. */
export interface BegunDirectUpload extends PutPermit {
  id: string
}

/**
 * Uploads whose bytes pass from the client to the bucket, without this service. They are resumable uploads with one piece: the object
 * that the client puts. It is under a key that is never delivered, and becomes an original when it has passed all checks of an upload.
 */
export interface DirectUploads {
  /** Whether the store of this installation permits them. */
  readonly isOffered: boolean
  /** @throws Problem 400, 403 on a disk, 409 for a link that is used or busy, 413, 415 for a type that is not accepted, 503 */
  begin(grant: Bearer, request: NewDirectUpload): Promise<BegunDirectUpload>
  /** @returns its size in bytes, and whether its original is stored @throws Problem 404, 410 */
  find(grant: Bearer, id: string): Promise<{ size: number; isStored: boolean }>
  /** Creates the original: one, however often it is called. @throws Problem 404, 409 while bytes are missing, 410; as an upload does */
  complete(grant: Bearer, id: string): Promise<UploadedFile>
  /** Deletes an upload in any state, with its parts. Its original, if stored, remains. @throws Problem 404, 503 */
  abort(grant: Bearer, id: string): Promise<void>
}

// A sweep aborts multipart uploads after 16 hours. With 12 hours, 78 GiB need 2 MB/s.
const URLS_MAX_MS = 12 * 3_600_000
// S3 checks the end of a URL when a request begins. The request may take a while, and the client completes the upload after it.
const GRACE_MAX_MS = 3_600_000

export function createDirectUploads({
  bucket,
  resumables,
  storing,
  signedLinks,
  expireMs,
  now = Date.now,
}: {
  /** The first client's bucket, which holds the uploads of all clients. */
  bucket: Bucket
  resumables: Pick<Resumables, 'create'>
  storing: Storing
  signedLinks: Pick<SignedLinks, 'read'>
  /** Retention of an unfinished resumable upload. */
  expireMs: number
  now?: () => number
}): DirectUploads {
  const urlsMs = Math.min(expireMs, URLS_MAX_MS)

  async function read(grant: Bearer, id: string): Promise<ResumableRecord & { size: number }> {
    const record = await storing.read(grant, id)
    const { direct, size, stored } = record
    if (!direct || size === undefined) throw uploadNotFound()
    if (!stored && !direct.isComplete && direct.until <= now()) throw uploadExpired()
    return { ...record, size }
  }

  const refOf = ({ client }: Bearer, id: string) => ({ clientId: client.id, id })

  return {
    isOffered: bucket.permitPut !== undefined,

    async begin(grant, { name, size, type, folder, sha256, annotations, link }) {
      const { permitPut } = bucket
      if (!permitPut) throw directUploadsOff()
      if (type !== undefined) checkExpectedType(formatOfMediaType(type), grant.client, link)
      const id = newFileId()
      const { key } = resumablePiece(refOf(grant, id), { start: 0, end: size })
      const digest = sha256 === undefined ? undefined : Buffer.from(sha256, 'hex').toString('base64')
      let permit: PutPermit | undefined
      await resumables.create(grant, {
        id,
        size,
        originalName: name,
        folder,
        link,
        ...(digest === undefined
          ? {}
          : { digests: [{ header: 'sha256', algorithm: 'sha256', base64: digest }] }),
        ...(annotations
          ? { annotations: { ...annotations, tags: [...annotations.tags], metadata: annotations.metadata } }
          : {}),
        async permit() {
          permit = await permitPut(key, { size, expiresInSeconds: Math.ceil(urlsMs / 1000) })
          const { uploadId, until } = permit
          return { uploadId, until: until + Math.min(urlsMs, GRACE_MAX_MS) }
        },
      })
      if (!permit) throw new Error('the requests were not signed')
      return { id, ...permit }
    },

    async find(grant, id) {
      const { size, stored } = await read(grant, id)
      return { size, isStored: stored !== undefined }
    },

    async complete(grant, id) {
      const record = await read(grant, id)
      return storing.original(grant.client, refOf(grant, id), record)
    },

    async abort(grant, id) {
      const record = await storing.read(grant, id)
      if (!record.direct) throw uploadNotFound()
      await storing.discard(grant.client, refOf(grant, id), record)
    },
  }

  function checkExpectedType(format: Format, { rules }: Client, link: string | undefined): void {
    // An unknown type may be detected as a known one.
    if (format.name === 'bin') return
    checkType(rules?.uploadTypes, format, { owner: 'client' })
    if (link !== undefined) checkType(signedLinks.read(link).link.types, format, { owner: 'link' })
  }
}

import type { Client } from '../../../core/clients/client.ts'
import type { Annotations } from '../../../core/files/annotations.ts'
import { newFileId, type ObjectKey } from '../../../core/files/object-key.ts'
import { resumablePiece } from '../../../core/files/resumable-key.ts'
import { type Format, formatOfMediaType } from '../../../core/media/formats.ts'
import type { Bucket, PutPermit } from '../../../core/ports/bucket.ts'
import type { SignedLinks } from '../links/upload-links.ts'
import { directUploadsOff, uploadExpired, uploadNotFound } from '../resumable/resumable-problems.ts'
import { endOfRecord, type ResumableRecord } from '../resumable/resumable-record.ts'
import type { Bearer, Resumables } from '../resumable/resumables.ts'
import type { Storing } from '../resumable/storing.ts'
import { checkType } from '../rules/upload-rules.ts'
import type { UploadedFile } from '../upload-request.ts'
import { createAssemble, isForbidden } from './assemble.ts'
import { endOfDirect, idleMs } from './times.ts'

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
  /** Whether a program has chosen a direct upload by itself, and would send the file to the service otherwise. */
  automatic?: boolean | undefined
}

/** Whether bytes may be missing, or its client has stated that it is complete, or the original is stored. */
export type DirectUploadState = 'receiving' | 'storing' | 'stored'

/** The first requests that a client must send: all of them, unless they have fewer than `missingBytes`. */
export interface BegunDirectUpload extends Pick<PutPermit, 'puts' | 'missingBytes' | 'until'> {
  id: string
  state: DirectUploadState
}

/**
 * Uploads whose bytes pass from the client to the bucket, without this service. They are resumable uploads with one piece: the object
 * that the client puts. It is under a key that is never delivered, and becomes an original when it has passed all checks of an upload.
 */
export interface DirectUploads {
  /** @throws Problem 403 on a disk, and for an automatic one where the bucket is not expected to be a better way */
  checkOffered(client: Client, request: Pick<NewDirectUpload, 'automatic'>): void
  /** @throws Problem 400, 403 on a disk, 409 for a link that is used or busy, 413, 415 for a type that is not accepted, 503 */
  begin(grant: Bearer, request: NewDirectUpload): Promise<BegunDirectUpload>
  /** @returns its size in bytes, and its state. One that has expired may still be found @throws Problem 404 */
  find(grant: Bearer, id: string): Promise<{ size: number; state: DirectUploadState }>
  /** The first requests for the parts that the bucket does not have, signed again. @throws Problem 404, 410, 503 */
  rest(grant: Bearer, id: string): Promise<BegunDirectUpload>
  /** Creates the original: one, however often it is called. @throws Problem 404, 409 while bytes are missing, 410; as an upload does */
  complete(grant: Bearer, id: string): Promise<UploadedFile>
  /** Deletes an upload with its parts. Its original, if stored, remains. @throws Problem 404, 409 while it is being stored, 503 */
  abort(grant: Bearer, id: string): Promise<void>
}

// A large file takes longer: `rest` signs others.
const URLS_MAX_MS = 12 * 3_600_000

// Then it is tried again: an operator may have granted the permission.
const REFUSED_MS = 300_000

// Why the file has to be sent to the service.
const ON_DISK = 'This installation stores files on a disk, so clients cannot send them to the bucket.'
const OWN_BUCKET =
  'This client has a bucket of its own, into which Sluice would have to move the file itself.'
const NOT_REACHABLE =
  'S3_DIRECT_ENDPOINT is not set, so clients may be unable to reach the bucket, and an automatic direct upload is refused.'
const NO_PERMISSION = 'Sluice may not list the parts of uploads in the bucket (s3:ListMultipartUploadParts).'

function stateOf({ direct, stored }: ResumableRecord): DirectUploadState {
  if (stored) return 'stored'
  return direct?.isComplete ? 'storing' : 'receiving'
}

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
  const assemble = createAssemble({ bucket, expireMs, now })
  let mayListParts = false
  let refusedUntil = Number.NEGATIVE_INFINITY

  async function read(grant: Bearer, id: string): Promise<ResumableRecord & { size: number }> {
    const record = await storing.read(grant, id)
    const { direct, size } = record
    if (!direct || size === undefined) throw uploadNotFound()
    return { ...record, size }
  }

  const refOf = ({ client }: Bearer, id: string) => ({ clientId: client.id, id })

  function checkOffered({ storage }: Client, { automatic }: Pick<NewDirectUpload, 'automatic'>): void {
    if (!bucket.permitPut) throw directUploadsOff(ON_DISK)
    if (automatic && storage) throw directUploadsOff(OWN_BUCKET)
    if (automatic && !bucket.isReachable) throw directUploadsOff(NOT_REACHABLE)
    if (automatic && now() < refusedUntil) throw directUploadsOff(NO_PERMISSION)
  }

  /** Without this permission, no upload can be completed: it should fail before its bytes are sent. */
  async function checkMayListParts(key: ObjectKey, uploadId: string, automatic: boolean | undefined) {
    if (mayListParts) return
    try {
      await bucket.partsOf?.(key, uploadId)
      mayListParts = true
    } catch (error) {
      // A sweep aborts it otherwise, after some days.
      await bucket.abortPuts(key).catch(() => {})
      if (!isForbidden(error)) throw error
      refusedUntil = now() + REFUSED_MS
      if (automatic) throw directUploadsOff(NO_PERMISSION)
      throw error
    }
  }

  return {
    checkOffered,

    async begin(grant, request) {
      const { name, size, type, folder, sha256, annotations, link, automatic } = request
      const { permitPut } = bucket
      if (!permitPut) throw directUploadsOff(ON_DISK)
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
          const { uploadId } = permit
          await checkMayListParts(key, uploadId, automatic)
          // Temporary credentials may end its URLs earlier. Then `rest` signs others.
          return { uploadId, until: now() + idleMs(expireMs) }
        },
      })
      if (!permit) throw new Error('the requests were not signed')
      return { id, ...permit, state: 'receiving' }
    },

    async find(grant, id) {
      const record = await read(grant, id)
      return { size: record.size, state: stateOf(record) }
    },

    async rest(grant, id) {
      const record = await read(grant, id)
      const { size, direct } = record
      const state = stateOf(record)
      const ref = refOf(grant, id)
      const received = state === 'receiving' ? await assemble.partsOf(ref, record) : undefined
      if (!received || !direct || !bucket.permitPut)
        return { id, state, until: endOfRecord(record, expireMs), puts: [], missingBytes: 0 }
      const end = endOfDirect({ ...record, direct }, { parts: received, expireMs })
      if (end <= now()) throw uploadExpired()
      const { key } = resumablePiece(ref, { start: 0, end: size })
      const { puts, missingBytes, until } = await bucket.permitPut(key, {
        size,
        expiresInSeconds: Math.max(1, Math.floor(Math.min(urlsMs, end - now()) / 1000)),
        rest: { uploadId: direct.uploadId, received },
      })
      return { id, state, until: puts.length > 0 ? until : end, puts, missingBytes }
    },

    async complete(grant, id) {
      const record = await read(grant, id)
      return storing.original(grant.client, refOf(grant, id), record)
    },

    async abort(grant, id) {
      const record = await storing.read(grant, id)
      if (!record.direct) throw uploadNotFound()
      await storing.abort(grant.client, refOf(grant, id))
    },
  }

  function checkExpectedType(format: Format, { rules }: Client, link: string | undefined): void {
    // An unknown type may be detected as a known one.
    if (format.name === 'bin') return
    checkType(rules?.uploadTypes, format, { owner: 'client' })
    if (link !== undefined) checkType(signedLinks.read(link).link.types, format, { owner: 'link' })
  }
}

import type { Readable } from 'node:stream'
import type { Grant } from '../../core/clients/grant.ts'
import type { Checksum } from './pieces.ts'
import type { ResumableRecord } from './resumable-record.ts'
import type { UploadedFile } from './upload-request.ts'

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

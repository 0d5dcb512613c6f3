import type { Readable } from 'node:stream'
import type { Grant } from '../../../core/clients/grant.ts'
import type { UploadedFile } from '../upload-request.ts'
import type { Checksum, UploadPart } from './pieces.ts'
import { endOfRecord, type ResumableRecord } from './resumable-record.ts'

/** The current state of a resumable upload. */
export interface ResumableUpload {
  /** Size of the file in bytes; undefined until the client declares it. */
  size: number | undefined
  /** Number of received bytes. */
  offset: number
  /** The metadata that the client sent. */
  metadata: ResumableRecord['metadata']
  /** Milliseconds since 1970. */
  expiresAt: number
  /** Whether the original is stored. */
  isStored: boolean
  /** Whether it is a part of another upload. */
  isPartial: boolean
  /** The uploads that it joins, in order; undefined for one that receives its bytes itself. */
  parts: readonly UploadPart[] | undefined
}

/** The caller: identified by a secret, or (`byAddress`) by the URL of an upload that a signed link began. */
export type Bearer = Grant & { byAddress?: true }

/** Resumable uploads. Uploads of another client, or outside of the grant's folder, are not found. */
export interface Resumables {
  /** @throws Problem 400 for an invalid folder or a size of 0, 403, 409 for a link that is used or busy, 413 */
  create(grant: Bearer, upload: NewResumable): Promise<ResumableUpload>
  /**
   * The complete parts that an upload shall join; of one that exists already, its parts.
   * @param of.link the signed link that begins the upload: then its parts must have begun by a link as well
   * @throws Problem 404 for a part that does not exist, 409 for one that is not complete or not a part
   */
  partsOf(
    grant: Bearer,
    of: { id: string; parts: readonly string[]; link: string | undefined },
  ): Promise<readonly UploadPart[]>
  /**
   * The maximum size of an existing upload (`id`), or of a new one, with or without a link.
   * @throws Problem 403, 404
   */
  maxBytesOf(grant: Bearer, upload: { id?: string | undefined; link?: string | undefined }): Promise<number>
  /** @throws Problem 404 */
  find(grant: Bearer, id: string): Promise<ResumableUpload>
  /** Sets the size of an upload that was created without one. @throws Problem 400, 404, 413 */
  declareSize(grant: Bearer, id: string, size: number): Promise<void>
  /**
   * Stores bytes from an offset on; with a checksum, all or none.
   * @returns the offset of the next byte
   * @throws Problem 401 when the client has been removed, 460 when the bytes do not match the checksum
   */
  append(grant: Bearer, id: string, bytes: AppendedBytes): Promise<number>
  /**
   * Creates the original of a complete upload: one, however often it is called, and in how many processes. Discards an upload that
   * is permanently refused.
   * @throws Problem 404, also when the original has been deleted since then; 409 while bytes are missing; 503
   */
  finish(grant: Bearer, id: string): Promise<UploadedFile>
  /** Deletes an upload in any state. Its original, if stored, remains. @throws Problem 404, 503 */
  remove(grant: Bearer, id: string): Promise<void>
}

export interface NewResumable extends Pick<ResumableRecord, 'metadata' | 'digests' | 'annotations'> {
  id: string
  size: number | undefined
  /** The file name that the client sent; may be empty. */
  originalName: string
  /** The requested folder, not yet validated. */
  folder: string | undefined
  /** Path and query of the signed link that begins it. */
  link?: string | undefined
  isPartial?: true | undefined
  /** As {@link Resumables.partsOf} returns them. */
  parts?: readonly UploadPart[] | undefined
  /** For an upload whose client puts the bytes into the bucket: permits that, after all checks. */
  permit?: (() => Promise<ResumableRecord['direct']>) | undefined
}

export interface AppendedBytes {
  offset: number
  bytes: Readable
  checksum?: Checksum | undefined
}

/** The state of an upload that has received this many bytes. */
export function uploadOf(
  record: ResumableRecord,
  { offset, now, expireMs }: { offset: number; now: number; expireMs: number },
): ResumableUpload {
  const { size, metadata, stored, isPartial, parts } = record
  return {
    size,
    offset,
    metadata,
    // A complete upload is stored, however old it is.
    expiresAt: !stored && offset === size ? now + expireMs : endOfRecord(record, expireMs),
    isStored: stored !== undefined,
    isPartial: isPartial === true,
    parts,
  }
}

import { Readable } from 'node:stream'
import { z } from 'zod'
import { type ResumableRef, resumableRecordKey } from '../../../core/files/resumable-key.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import { snapshot } from '../../../core/storage/small-object.ts'
import { deleteAll } from '../../originals/delete-objects.ts'

const storedRecord = z.object({
  /** The id of the future original. It is fixed at the start, so that repeated attempts create one original, not two. */
  fileId: z.string(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** Size of the file in bytes; absent until the client declares it. */
  size: z.int().min(0).optional(),
  /** The file name that the client sent; may be empty. */
  originalName: z.string(),
  /** Empty for the root folder. */
  folder: z.string(),
  /** Path and query of the signed link that began the upload; absent when a secret did. */
  link: z.string().optional(),
  /** Whether it is a part of another upload, which joins it with others. It does not become a file itself. */
  isPartial: z.literal(true).optional(),
  /** The uploads that this one joins, in order. Their bytes are its bytes. */
  parts: z.array(z.object({ id: z.string(), size: z.int().min(0) })).optional(),
  /** The metadata that the client sent. */
  metadata: z.record(z.string(), z.string().nullable()).optional(),
  /** What the client stated of the whole file when it began. */
  digests: z
    .array(
      z.object({ header: z.string(), algorithm: z.enum(['md5', 'sha256', 'sha512']), base64: z.string() }),
    )
    .optional(),
  /** Set for an upload whose client puts the bytes into the bucket itself, as one piece. */
  direct: z
    .object({
      /** The id of the multipart upload in the bucket. */
      uploadId: z.string(),
      /** The time from which it counts as abandoned when no part has arrived, in milliseconds since 1970. */
      until: z.number(),
      /** Set when all bytes were found after the client had stated that it is complete. */
      isComplete: z.literal(true).optional(),
    })
    .optional(),
  /** What the client set for the file. */
  annotations: z
    .object({
      tags: z.array(z.string()),
      metadata: z.record(z.string(), z.string()),
      focalPoint: z.object({ x: z.number(), y: z.number() }).optional(),
    })
    .optional(),
  /** The key of the original, and when it was stored, in milliseconds since 1970; absent until then. */
  stored: z.object({ key: z.string(), at: z.number() }).optional(),
})

/** The state of a resumable upload, except its received bytes. */
export type ResumableRecord = z.infer<typeof storedRecord>

/** When a record may be deleted, in milliseconds since 1970. A complete upload is stored before. */
export function endOfRecord({ createdAt, direct, stored }: ResumableRecord, expireMs: number): number {
  return stored ? stored.at + expireMs : (direct?.until ?? createdAt + expireMs)
}

/** @returns undefined when there is no such upload @param bucket the first client's @throws Problem 503 */
export async function readResumable(bucket: Bucket, ref: ResumableRef): Promise<ResumableRecord | undefined> {
  const record = await snapshot(bucket, resumableRecordKey(ref))
  return record && storedRecord.parse(JSON.parse(record.bytes.toString('utf8')))
}

/** Creates or replaces the record. @param bucket the first client's @throws Problem 503 */
export async function writeResumable(
  bucket: Bucket,
  ref: ResumableRef,
  record: ResumableRecord,
): Promise<void> {
  const bytes = Readable.from([Buffer.from(JSON.stringify(record))], { objectMode: false })
  await bucket.put(resumableRecordKey(ref), bytes, { mediaType: 'application/json' })
}

/** Deletes the record. A sweep deletes pieces without a record. @param bucket the first client's @throws Problem 503 */
export async function deleteResumable(bucket: Bucket, ref: ResumableRef): Promise<void> {
  await deleteAll(bucket, [resumableRecordKey(ref)])
}

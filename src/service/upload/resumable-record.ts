import { Readable } from 'node:stream'
import { z } from 'zod'
import { type ResumableRef, resumableRecordKey } from '../../core/files/resumable-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import { snapshot } from '../../core/storage/small-object.ts'
import { deleteAll } from '../originals/delete-objects.ts'

const storedRecord = z.object({
  /** The id of the original that it will be: fixed from the beginning, so that it becomes one, and not two. */
  fileId: z.string(),
  /** Milliseconds since 1970. */
  createdAt: z.number(),
  /** Bytes of the whole; absent while its sender does not know. */
  size: z.int().min(1).optional(),
  /** As its sender calls it; may be empty. */
  originalName: z.string(),
  /** Empty for none. */
  folder: z.string(),
  /** The signed link that it was begun by, its path and query; absent for one by a secret. */
  link: z.string().optional(),
  /** As its sender gave it. */
  metadata: z.record(z.string(), z.string().nullable()).optional(),
  /** What it has become, and when. */
  stored: z.object({ key: z.string(), at: z.number() }).optional(),
})

/** What is known of an upload in several requests, apart from the bytes that have come. */
export type ResumableRecord = z.infer<typeof storedRecord>

/** Undefined for none. @param bucket the first client's @throws Problem 503 */
export async function readResumable(bucket: Bucket, ref: ResumableRef): Promise<ResumableRecord | undefined> {
  const record = await snapshot(bucket, resumableRecordKey(ref))
  return record && storedRecord.parse(JSON.parse(record.bytes.toString('utf8')))
}

/** In the place of what is there. @param bucket the first client's @throws Problem 503 */
export async function writeResumable(
  bucket: Bucket,
  ref: ResumableRef,
  record: ResumableRecord,
): Promise<void> {
  const bytes = Readable.from([Buffer.from(JSON.stringify(record))], { objectMode: false })
  await bucket.put(resumableRecordKey(ref), bytes, { mediaType: 'application/json' })
}

/** Deletes it: what of its bytes is left is nobody's from now on. @param bucket the first client's @throws Problem 503 */
export async function deleteResumable(bucket: Bucket, ref: ResumableRef): Promise<void> {
  await deleteAll(bucket, [resumableRecordKey(ref)])
}

import { type ResumableRef, resumablePiece } from '../../../core/files/resumable-key.ts'
import type { Bucket, PutPart } from '../../../core/ports/bucket.ts'
import { notInBucket, otherSize } from '../resumable-problems.ts'
import { endOfRecord, type ResumableRecord, writeResumable } from '../resumable-record.ts'

import { endOfDirect } from './times.ts'

type SizedRecord = ResumableRecord & { size: number }

/**
 * Completes the object of a direct upload, checks its size, and notes that it is complete: from then on, a sweep stores it when this
 * process dies. Returns the record; that of another upload is unchanged. A repetition does no harm.
 *
 * @throws Problem 400 for another size, 409 when the bucket does not have all bytes, 503
 */
export interface Assemble {
  (ref: ResumableRef, record: SizedRecord): Promise<ResumableRecord>
  /** The parts of a direct upload that the bucket has received; undefined when they are joined. Empty for an upload that is not direct. */
  partsOf(ref: ResumableRef, record: ResumableRecord): Promise<readonly PutPart[] | undefined>
  /**
   * When the record of an upload may be deleted, in milliseconds since 1970. A direct upload has the whole time again from its last part
   * on. @throws Problem 503
   */
  endOf(ref: ResumableRef, record: ResumableRecord): Promise<number>
}

/** @param options.bucket the first client's @param options.expireMs retention of an unfinished upload */
export function createAssemble({
  bucket,
  expireMs,
  now,
}: {
  bucket: Bucket
  expireMs: number
  now: () => number
}): Assemble {
  const keyOf = (ref: ResumableRef, size: number) => resumablePiece(ref, { start: 0, end: size }).key

  async function partsOf(ref: ResumableRef, { size = 0, direct }: ResumableRecord) {
    if (!direct) return []
    const key = keyOf(ref, size)
    const parts = (await bucket.partsOf?.(key, direct.uploadId)) ?? []
    // A process may have died after it has joined the parts.
    return parts.length === 0 && (await bucket.find(key)) ? undefined : parts
  }

  async function endOf(ref: ResumableRef, record: ResumableRecord): Promise<number> {
    const end = endOfRecord(record, expireMs)
    const { direct, stored } = record
    if (!direct || direct.isComplete || stored || end > now()) return end
    return endOfDirect(direct, { parts: (await partsOf(ref, record)) ?? [], expireMs })
  }

  async function assembled(ref: ResumableRef, record: SizedRecord): Promise<ResumableRecord> {
    const { size, direct } = record
    if (!direct) return record
    const key = keyOf(ref, size)
    const parts = await partsOf(ref, record)
    if (parts) {
      const received = parts.reduce((sum, part) => sum + part.size, 0)
      if (received !== size)
        throw notInBucket(
          `The bucket has ${received} of ${size} bytes${firstMissing(parts.map(({ number }) => number))}. Send the others, and repeat this request.`,
        )
      await bucket.joinParts?.(key, direct.uploadId, parts)
    }
    const whole = await bucket.find(key)
    if (!whole) throw notInBucket('The bucket has not received the file. Send it, and repeat this request.')
    if (whole.size !== size) throw otherSize({ size, received: whole.size })
    if (direct.isComplete) return record
    const complete: ResumableRecord = { ...record, direct: { ...direct, isComplete: true } }
    await writeResumable(bucket, ref, complete)
    return complete
  }

  return Object.assign(assembled, { partsOf, endOf })
}

function firstMissing(numbers: readonly number[]): string {
  const missing = numbers.findIndex((number, i) => number !== i + 1)
  return `: part ${(missing === -1 ? numbers.length : missing) + 1} is missing`
}

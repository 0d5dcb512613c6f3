import { type ResumableRef, resumablePiece } from '../../../core/files/resumable-key.ts'
import type { Bucket } from '../../../core/ports/bucket.ts'
import { notInBucket, otherSize } from '../resumable-problems.ts'
import { type ResumableRecord, writeResumable } from '../resumable-record.ts'

type SizedRecord = ResumableRecord & { size: number }

/**
 * Completes the object of a direct upload, checks its size, and notes that it is complete: from then on, a sweep stores it when this
 * process dies. Returns the record; that of another upload is unchanged. A repetition does no harm.
 *
 * @throws Problem 400 for another size, 409 when the bucket does not have all bytes, 503
 */
export interface Assemble {
  (ref: ResumableRef, record: SizedRecord): Promise<ResumableRecord>
  /** Whether the bucket has received a part of a direct upload. */
  hasParts(ref: ResumableRef, record: ResumableRecord): Promise<boolean>
}

/** @param options.bucket the first client's */
export function createAssemble({ bucket }: { bucket: Bucket }): Assemble {
  const keyOf = (ref: ResumableRef, size: number) => resumablePiece(ref, { start: 0, end: size }).key

  async function partsOf(ref: ResumableRef, { size = 0, direct }: ResumableRecord) {
    if (!direct) return []
    return (await bucket.partsOf?.(keyOf(ref, size), direct.uploadId)) ?? []
  }

  async function assembled(ref: ResumableRef, record: SizedRecord): Promise<ResumableRecord> {
    const { size, direct } = record
    if (!direct) return record
    const key = keyOf(ref, size)
    // A process may have died after it has joined the parts.
    const present = await bucket.find(key)
    if (!present) {
      const parts = await partsOf(ref, record)
      const received = parts.reduce((sum, part) => sum + part.size, 0)
      if (received !== size)
        throw notInBucket(
          `The bucket has ${received} of ${size} bytes${firstMissing(parts.map(({ number }) => number))}. Send the others, and repeat this request.`,
        )
      await bucket.joinParts?.(key, direct.uploadId, parts)
    }
    const whole = present ?? (await bucket.find(key))
    if (!whole) throw notInBucket('The bucket has not received the file. Send it, and repeat this request.')
    if (whole.size !== size) throw otherSize({ size, received: whole.size })
    if (direct.isComplete) return record
    const complete: ResumableRecord = { ...record, direct: { ...direct, isComplete: true } }
    await writeResumable(bucket, ref, complete)
    return complete
  }

  return Object.assign(assembled, {
    hasParts: async (ref: ResumableRef, record: ResumableRecord) => (await partsOf(ref, record)).length > 0,
  })
}

function firstMissing(numbers: readonly number[]): string {
  const missing = numbers.findIndex((number, i) => number !== i + 1)
  return `: part ${(missing === -1 ? numbers.length : missing) + 1} is missing`
}

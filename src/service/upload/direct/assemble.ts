import type { ObjectKey } from '../../../core/files/object-key.ts'
import { type ResumableRef, resumablePiece } from '../../../core/files/resumable-key.ts'
import type { Bucket, PutPart } from '../../../core/ports/bucket.ts'
import { notInBucket, otherSize, uploadExpired } from '../resumable/resumable-problems.ts'
import { endOfRecord, type ResumableRecord, writeResumable } from '../resumable/resumable-record.ts'
import { endOfDirect, graceMs } from './times.ts'

type SizedRecord = ResumableRecord & { size: number }

/**
 * Completes the object of a direct upload, checks its size, and notes that it is complete: from then on, a sweep stores it when this
 * process dies. Returns the record; that of another upload is unchanged. A repetition does no harm.
 *
 * @throws Problem 400 for another size, 409 when the bucket does not have all bytes, 410, 503
 */
export interface Assemble {
  (ref: ResumableRef, record: SizedRecord): Promise<ResumableRecord>
  /** The parts of a direct upload that the bucket has received; undefined when they are joined. Empty for an upload that is not direct. */
  partsOf(ref: ResumableRef, record: ResumableRecord): Promise<readonly PutPart[] | undefined>
  /** When an unfinished upload expires. A direct upload has the idle time again from its last part on. @throws Problem 503 */
  endOf(ref: ResumableRef, record: ResumableRecord): Promise<UploadEnd>
}

export interface UploadEnd {
  /** In milliseconds since 1970. */
  at: number
  /** Whether it does not end then: the parts of a direct upload are joined, so its client has completed it. */
  isJoined: boolean
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
    return unlessJoined(key, (await bucket.partsOf?.(key, direct.uploadId)) ?? [])
  }

  /** A process may have died after it has joined the parts: only this service can do that. */
  async function unlessJoined(key: ObjectKey, parts: readonly PutPart[]) {
    return parts.length === 0 && (await bucket.find(key)) ? undefined : parts
  }

  async function endOf(ref: ResumableRef, record: ResumableRecord): Promise<UploadEnd> {
    const { size = 0, direct, stored } = record
    const at = endOfRecord(record, expireMs)
    if (!direct || direct.isComplete || stored || at > now()) return { at, isJoined: false }
    const parts = await partsOf(ref, record).catch((error) => {
      if (!isForbidden(error)) throw error
      // The permission may have been removed by mistake, for a while: the upload has the most time that it could have.
      return unlessJoined(keyOf(ref, size), []).then((none) => none && [{ at: now() }])
    })
    return { at: endOfDirect({ ...record, direct }, { parts: parts ?? [], expireMs }), isJoined: !parts }
  }

  /**
   * Nothing ends an upload while its parts are joined, and for a while after that: a list of its parts may find neither these nor the
   * object.
   */
  async function renewed(ref: ResumableRef, record: SizedRecord, parts: readonly PutPart[]) {
    const { direct } = record
    const least = now() + graceMs(expireMs)
    if (!direct || direct.until >= least) return record
    const until = Math.max(least, endOfDirect({ ...record, direct }, { parts, expireMs }))
    const longer = { ...record, direct: { ...direct, until } }
    await writeResumable(bucket, ref, longer)
    return longer
  }

  async function assembled(ref: ResumableRef, begun: SizedRecord): Promise<ResumableRecord> {
    const { size, direct } = begun
    if (!direct) return begun
    let record = begun
    const key = keyOf(ref, size)
    const parts = await partsOf(ref, record)
    if (parts) {
      if (!direct.isComplete && endOfDirect({ ...record, direct }, { parts, expireMs }) <= now())
        throw uploadExpired()
      const received = parts.reduce((sum, part) => sum + part.size, 0)
      if (received !== size)
        throw notInBucket(
          `The bucket has ${received} of ${size} bytes${firstMissing(parts.map(({ number }) => number))}. Send the others, and repeat this request.`,
        )
      record = await renewed(ref, record, parts)
      await bucket.joinParts?.(key, direct.uploadId, parts)
    }
    const whole = await bucket.find(key)
    if (!whole) throw notInBucket('The bucket has not received the file. Send it, and repeat this request.')
    if (whole.size !== size) throw otherSize({ size, received: whole.size })
    if (direct.isComplete) return record
    const complete: ResumableRecord = { ...record, direct: { ...direct, ...record.direct, isComplete: true } }
    await writeResumable(bucket, ref, complete)
    return complete
  }

  return Object.assign(assembled, { partsOf, endOf })
}

/** Whether the store has refused a request for lack of a permission. */
export function isForbidden(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error && cause.name === 'AccessDenied'
}

function firstMissing(numbers: readonly number[]): string {
  const missing = numbers.findIndex((number, i) => number !== i + 1)
  return `: part ${(missing === -1 ? numbers.length : missing) + 1} is missing`
}

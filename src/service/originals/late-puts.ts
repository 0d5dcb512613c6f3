import type { FileRef } from '../../core/files/file-ref.ts'
import type { RecordChanges } from '../../core/ports/index/record-changes.ts'
import { unlessStatus } from '../../core/problem.ts'

// A request to S3 is aborted after `S3_TIMEOUT_MS` of silence, at most 15 s.
const MAY_LAND_MS = 60_000

/**
 * Waits for a put of an object that belongs to an original, or for the delete of one that was put too late. A put that fails may still
 * be executed, also after the original is deleted. So this notes it, and a sweep looks for what is left.
 *
 * @throws the error of the put
 */
export async function mayLandLater<T>(
  put: Promise<T>,
  { index, ref, now }: { index: Pick<RecordChanges, 'beginChange'>; ref: FileRef; now: number },
): Promise<T> {
  try {
    return await put
  } catch (error) {
    await unlessStatus(503, index.beginChange({ ref, until: now + MAY_LAND_MS }))
    throw error
  }
}

import type { OriginalRecord } from '../../core/ports/file-index.ts'
import type { RecordChanges } from '../../core/ports/index/record-changes.ts'
import { fileNotFound, unlessStatus } from '../../core/problem.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import type { Records } from '../originals/records.ts'
import { type FileRequest, originalOf } from './describe.ts'

/**
 * Changes the annotations of a stored original: first its record in the bucket, which is the source of truth, then the
 * index. A change that is interrupted in between was not acknowledged, and a sweep or the next change makes the index
 * agree with the bucket. Changes of one original run one after the other.
 *
 * @param request.change computes the new record from the current one; may throw to refuse
 * @throws Problem 404, 503, and the errors of `change`
 */
export type Annotate = (
  request: FileRequest & { change: (record: OriginalRecord) => OriginalRecord; signal: AbortSignal },
) => Promise<FoundOriginal>

// Time limit of the put, and of the step of the index after it.
const LEASE_MS = 60_000

export function createAnnotate({
  originals,
  records,
  index,
  now = Date.now,
}: {
  originals: Originals
  records: Records
  index: RecordChanges
  now?: () => number
}): Annotate {
  return async ({ change, signal, ...request }) => {
    const { client } = request
    const { name } = await originalOf(originals, request)
    return records.withLock(
      client,
      name.key,
      async (held) => {
        const present = await originals.inBucket(client, name.key)
        if (!present || present.trash) throw fileNotFound()
        // After an interrupted change, the index would return another version than the one that If-Match has to name.
        await records.amend(client, present.record)
        const record = change(present.record)
        const mark = { ref: { clientId: client.id, key: name.key }, until: now() + LEASE_MS }
        await index.beginChange(mark)
        const recordTag = await records.put(client, record, { signal: held })
        const amended = await records.amend(client, record, { recordTag, from: present.record })
        // The change is complete. A remaining mark costs a sweep one comparison.
        await unlessStatus(503, index.endChange(mark))
        return { name, record: amended }
      },
      { signal },
    )
  }
}

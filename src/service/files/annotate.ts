import type { OriginalRecord } from '../../core/ports/file-index.ts'
import type { RecordChanges } from '../../core/ports/record-changes.ts'
import { fileNotFound, unlessStatus } from '../../core/problem.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'
import type { Records } from '../originals/records.ts'
import { type FileRequest, originalOf } from './describe.ts'

/**
 * Changes what is said of a stored original: its record in the bucket first, which is the truth, then the index. When it is
 * interrupted in between, it was not acknowledged, and a sweep or the next change makes the index agree with the bucket. Changes of
 * one original run one after the other.
 *
 * @param request.change makes the new record of the one there is; may refuse by throwing
 * @throws Problem 404, 503, and what `change` throws
 */
export type Annotate = (
  request: FileRequest & { change: (record: OriginalRecord) => OriginalRecord; signal: AbortSignal },
) => Promise<FoundOriginal>

// How long the put, and the step of the index after it, may take.
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
        // Should one have been broken off, the index would go on telling another version than the one that If-Match has to name.
        await records.amend(client, present.record)
        const record = change(present.record)
        const mark = { ref: { clientId: client.id, key: name.key }, until: now() + LEASE_MS }
        await index.beginChange(mark)
        await records.put(client, record, { signal: held })
        const amended = await records.amend(client, record)
        // The change is done; a mark that is left costs a sweep one comparison.
        await unlessStatus(503, index.endChange(mark))
        return { name, record: amended }
      },
      { signal },
    )
  }
}

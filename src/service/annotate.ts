import type { OriginalRecord } from '../core/ports/file-index.ts'
import { fileNotFound } from '../core/problem.ts'
import { type FileRequest, originalOf } from './describe.ts'
import type { FoundOriginal, Originals } from './originals.ts'
import type { Records } from './records.ts'

/**
 * Changes what is said of a stored original: its record in the bucket first, which is the truth, then the index. Broken off in
 * between, it has not been told of, and the next change, or a reindex, has the index say what the bucket says. Two at once are one after the other.
 *
 * @param request.change makes the new record of the one there is; may refuse by throwing
 * @throws Problem 404, 503, and what `change` throws
 */
export type Annotate = (
  request: FileRequest & { change: (record: OriginalRecord) => OriginalRecord; signal: AbortSignal },
) => Promise<FoundOriginal>

export function createAnnotate({ originals, records }: { originals: Originals; records: Records }): Annotate {
  return async ({ change, signal, ...request }) => {
    const { client } = request
    const { name } = await originalOf(originals, request)
    return records.alone(
      client,
      name.key,
      async (held) => {
        const present = await originals.inBucket(client, name.key)
        if (!present || present.trash) throw fileNotFound()
        // Should one have been broken off, the index would go on telling another version than the one that If-Match has to name.
        await records.amend(client, present.record)
        const record = change(present.record)
        await records.put(client, record, { signal: held })
        return { name, record: await records.amend(client, record) }
      },
      { signal },
    )
  }
}

import type { Client } from '../../core/clients/client.ts'
import type { OriginalEntry, OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'
import { isSameInBucket } from '../../core/ports/index/same-record.ts'
import { unlessStatus } from '../../core/problem.ts'

/**
 * Notes the tag of a record object in the index, unless the entry has changed since then or is of another record. A tag only saves a
 * later comparison one read of the record. So a request does not fail when the index has no room for it.
 *
 * @param read the record in the bucket with its tag, where the bucket states it
 */
export async function noteRecordTag(
  index: Pick<OriginalIndex, 'noteRecordTag'>,
  client: Client,
  entry: Extract<OriginalEntry, { record: OriginalRecord }>,
  { record, recordTag }: { record: OriginalRecord; recordTag?: string | undefined },
): Promise<void> {
  if (recordTag === undefined || recordTag === entry.recordTag || !isSameInBucket(entry.record, record))
    return
  await unlessStatus(503, index.noteRecordTag(client.id, entry, recordTag))
}

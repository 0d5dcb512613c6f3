import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { OriginalIndex } from '../../core/ports/file-index.ts'
import { isSameInBucket } from '../../core/ports/index/same-record.ts'
import { unlessStatus } from '../../core/problem.ts'
import type { Originals } from './originals.ts'
import { noteRecordTag } from './record-tag.ts'
import type { Records } from './records.ts'

/**
 * Makes the index state what an original's record in the bucket states: its annotations, and whether it is in the
 * trash. They differ after a change that was interrupted between the two, or when the index has lost its last steps. Then
 * the index has the tag of the record object, where the bucket states it, unless the file has changed since then.
 *
 * @throws Problem 503 when the bucket or the index is unavailable
 */
export type Agree = (client: Client, key: ObjectKey) => Promise<void>

export function createAgree({
  index,
  originals,
  records,
}: {
  index: OriginalIndex
  originals: Originals
  records: Records
}): Agree {
  /** @returns the record in the bucket when the entry differs from it. Otherwise its tag is noted */
  async function differs(client: Client, key: ObjectKey) {
    const { original } = await index.find({ clientId: client.id, key })
    if (original?.state !== 'stored' && original?.state !== 'trashed') return undefined
    const present = await originals.inBucket(client, key)
    if (!present) return undefined
    const isTrashed = original.state === 'trashed'
    const isSame =
      isTrashed === (present.trash !== undefined) && isSameInBucket(original.record, present.record)
    if (!isSame) return { ...present, isTrashed }
    await noteRecordTag(index, client, original, present)
    return undefined
  }

  return async (client, key) => {
    if (!(await differs(client, key))) return
    // They differ during a change in progress too, so look again under its lock.
    await records.withLock(client, key, async () => {
      const found = await differs(client, key)
      if (!found) return
      const ref = { clientId: client.id, key }
      const { record, trash, recordTag, isTrashed } = found
      // It is in the trash in both. There, the rest of the record does not matter.
      if (isTrashed && trash) return
      // Restore it even after its retention: according to the record it was restored in time, or never deleted.
      if (isTrashed && !(await index.restore(ref, 0))) return
      await unlessStatus(404, records.amend(client, record, { recordTag: trash ? undefined : recordTag }))
      if (!trash || !(await index.trash(ref, trash))) return
      const { original } = await index.find(ref)
      if (original?.state === 'trashed' && isDeepStrictEqual(original.trash, trash))
        await noteRecordTag(index, client, original, found)
    })
  }
}

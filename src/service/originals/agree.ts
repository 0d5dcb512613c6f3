import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { OriginalIndex } from '../../core/ports/file-index.ts'
import { unlessStatus } from '../../core/problem.ts'
import type { Originals } from './originals.ts'
import type { Records } from './records.ts'

/**
 * Makes the index state what an original's record in the bucket states: its tags, its metadata, and whether it is in the
 * trash. They differ when a change was broken off between the two, or when the index has lost its last steps.
 *
 * @throws Problem 503 when bucket or index are away
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
  async function look(client: Client, key: ObjectKey) {
    const { original } = await index.find({ clientId: client.id, key })
    if (original?.state !== 'stored' && original?.state !== 'trashed') return undefined
    const present = await originals.inBucket(client, key)
    if (!present) return undefined
    const { probe: _, ...known } = original.record
    const isTrashed = original.state === 'trashed'
    const isSame = isTrashed === (present.trash !== undefined) && isDeepStrictEqual(present.record, known)
    return isSame ? undefined : { ...present, isTrashed }
  }

  return async (client, key) => {
    if (!(await look(client, key))) return
    // A change in progress differs as well, until it has ended.
    await records.withLock(client, key, async () => {
      const found = await look(client, key)
      if (!found) return
      const ref = { clientId: client.id, key }
      const { record, trash, isTrashed } = found
      // The original stays in the trash, where its record has no say.
      if (isTrashed && trash) return
      // The end of its time does not matter: the record says that it was restored before, or never deleted.
      if (isTrashed && !(await index.restore(ref, 0))) return
      await unlessStatus(404, records.amend(client, record))
      if (trash) await index.trash(ref, trash)
    })
  }
}

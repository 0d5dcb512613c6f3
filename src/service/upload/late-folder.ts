import type { Client } from '../../core/clients/client.ts'
import { type OriginalName, original } from '../../core/files/object-key.ts'
import type { Bucket } from '../../core/ports/bucket.ts'
import type { OriginalIndex, OriginalRecord } from '../../core/ports/file-index.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { FailedUpload } from '../originals/delete.ts'

/** A file on its way into the bucket, with the facts that a rollback needs. */
export interface BegunFile extends FailedUpload {
  name: OriginalName
}

/** Copies the bytes of files that are not committed yet into another folder: the form named it after their bytes. */
export function createLateFolder({ index }: { index: Pick<OriginalIndex, 'beginUpload'> }) {
  /**
   * @param begun replaced by the copies, for a rollback of them
   * @param options.left receives the files whose copies replace them
   * @returns the records under their new keys
   */
  return async (
    records: readonly OriginalRecord[],
    begun: BegunFile[],
    {
      client,
      bucket,
      folder,
      leaseUntil,
      left,
      signal,
    }: {
      client: Client
      bucket: Bucket
      folder: string
      leaseUntil: number
      left: BegunFile[]
      signal: AbortSignal
    },
  ): Promise<OriginalRecord[]> => {
    const moved: OriginalRecord[] = []
    for (const [i, record] of records.entries()) {
      const before = begun[i] as BegunFile
      if (before.name.folder === folder) {
        moved.push(record)
        continue
      }
      const name = original(folder, before.name.format, before.name.sourceName)
      const file = { name, key: name.key, mayLand: true }
      await index.beginUpload({ clientId: client.id, key: name.key }, leaseUntil)
      left.push(before)
      begun[i] = file
      // Only a client that is removed at this moment loses the bytes.
      if (!(await bucket.copy(before.key, name.key, { mediaType: record.mediaType, signal })))
        throw fileNotFound()
      file.mayLand = false
      moved.push({ ...record, key: name.key })
    }
    return moved
  }
}

import type { Client } from '../../core/clients/client.ts'
import { parseKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLists, FileLookup, OriginalRecord } from '../../core/ports/file-index.ts'

/**
 * Of each file of an upload the original that its client has already: with the same bytes, of the same type, in the same
 * folder; also one earlier in the upload. Undefined for those that are new.
 */
export type Duplicates = (
  client: Client,
  records: readonly OriginalRecord[],
) => Promise<Array<OriginalRecord | undefined>>

// Equal bytes of another type beside it, by their names: text formats.
const CANDIDATES = 10

export function createDuplicates({ index, buckets }: { index: FileLists; buckets: Buckets }): Duplicates {
  async function stored(client: Client, record: OriginalRecord): Promise<OriginalRecord | undefined> {
    const place = record.key.slice(0, record.key.lastIndexOf('/') + 1)
    const { files } = await index.page(client.id, {
      state: 'stored',
      by: 'sha256',
      limit: CANDIDATES,
      prefix: `${record.sha256} ${place}`,
    })
    for (const { record: known } of files) {
      if (!isTwin(known, record)) continue
      // A damaged file must not take the place of the uploaded one.
      if ((await buckets.of(client).find(known.key, known))?.size === known.size) return known
    }
    return undefined
  }

  return async (client, records) => {
    const duplicates: Array<OriginalRecord | undefined> = []
    for (const [i, record] of records.entries()) {
      const earlier = records.slice(0, i).findIndex((other) => isTwin(other, record))
      duplicates.push(
        earlier === -1 ? await stored(client, record) : (duplicates[earlier] ?? records[earlier]),
      )
    }
    return duplicates
  }
}

/** Finds the places of those that are not stored any more. */
export function createDeletedTwins({ index }: { index: FileLookup }) {
  return async (client: Client, duplicates: ReadonlyArray<OriginalRecord | undefined>): Promise<number[]> => {
    const deleted: number[] = []
    for (const [i, twin] of duplicates.entries()) {
      const known = twin && (await index.find({ clientId: client.id, key: twin.key }))
      if (known && known.original?.state !== 'stored') deleted.push(i)
    }
    return deleted
  }
}

/** Whether an original stands for another one: their keys have the same folder, type and format. */
function isTwin(one: OriginalRecord, other: OriginalRecord): boolean {
  return (
    one.sha256 === other.sha256 &&
    one.size === other.size &&
    one.mediaType === other.mediaType &&
    placeOf(one) === placeOf(other)
  )
}

/** Folder, format and extension of the key: unknown files, all of the format `bin`, may differ in their extension alone. */
function placeOf({ key }: OriginalRecord): string {
  const { folder, format } = parseKey(key) ?? {}
  return JSON.stringify([folder, format?.name, format?.extension])
}

import type { Client } from '../../core/clients/client.ts'
import { parseKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLists, FileLookup, OriginalRecord } from '../../core/ports/file-index.ts'

/**
 * For each file of an upload, an existing original of the client with the same bytes, type and folder, or an earlier file of
 * the same upload. Undefined for new files.
 */
export type Duplicates = (
  client: Client,
  records: readonly OriginalRecord[],
) => Promise<Array<OriginalRecord | undefined>>

// Equal bytes may be stored with several types: the type of a text format comes from the file name.
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
      if (!isDuplicate(known, record)) continue
      // A damaged file must not take the place of the uploaded one.
      if ((await buckets.of(client).find(known.key, known))?.size === known.size) return known
    }
    return undefined
  }

  return async (client, records) => {
    const duplicates: Array<OriginalRecord | undefined> = []
    for (const [i, record] of records.entries()) {
      const earlier = records.slice(0, i).findIndex((other) => isDuplicate(other, record))
      duplicates.push(
        earlier === -1 ? await stored(client, record) : (duplicates[earlier] ?? records[earlier]),
      )
    }
    return duplicates
  }
}

/** Finds the indexes of duplicates that have been deleted since they were found. */
export function createDeletedDuplicates({ index }: { index: FileLookup }) {
  return async (client: Client, duplicates: ReadonlyArray<OriginalRecord | undefined>): Promise<number[]> => {
    const deleted: number[] = []
    for (const [i, duplicate] of duplicates.entries()) {
      const known = duplicate && (await index.find({ clientId: client.id, key: duplicate.key }))
      if (known && known.original?.state !== 'stored') deleted.push(i)
    }
    return deleted
  }
}

/** Whether two originals are duplicates: same bytes and media type, and keys with the same folder, format and extension. */
function isDuplicate(one: OriginalRecord, other: OriginalRecord): boolean {
  return (
    one.sha256 === other.sha256 &&
    one.size === other.size &&
    one.mediaType === other.mediaType &&
    placeOf(one) === placeOf(other)
  )
}

/** Folder, format and extension of a key. Unknown files all have the format `bin` and differ only in their extension. */
function placeOf({ key }: OriginalRecord): string {
  const { folder, format } = parseKey(key) ?? {}
  return JSON.stringify([folder, format?.name, format?.extension])
}

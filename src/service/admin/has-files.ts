import type { Client } from '../../core/clients/client.ts'
import { classifyKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLists } from '../../core/ports/file-index.ts'

/** Whether a client has files, or an upload in progress, in its bucket or in the index. */
export type HasFiles = (client: Client) => Promise<boolean>

export function createHasFiles({ buckets, index }: { buckets: Buckets; index: FileLists }): HasFiles {
  return async (client) => {
    for await (const key of buckets.of(client).list('')) if (classifyKey(key)) return true
    for await (const _ of index.list(client.id)) return true
    return false
  }
}

import type { Client } from '../../core/clients/client.ts'
import { classifyKey } from '../../core/files/object-key.ts'
import type { PathCandidates } from '../../core/files/request-path.ts'
import { isReservedKey } from '../../core/files/variant.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLookup, IndexedFile } from '../../core/ports/file-index.ts'
import { fileNotFound } from '../../core/problem.ts'
import type { FoundOriginal, Originals } from '../originals/originals.ts'

/** A client, and a path that may mean one of its originals. */
export interface FileRequest {
  client: Client
  path: PathCandidates
}

/** Resolves a path to its original. @throws Problem 404 */
export async function originalOf(
  originals: Originals,
  { client, path }: FileRequest,
): Promise<FoundOriginal> {
  const found = await originals.resolve(client, path)
  if (!found || found.variant !== undefined) throw fileNotFound()
  return found
}

/** An original, its URL in the bucket, and its derivatives. */
export type DescribedFile = FoundOriginal & {
  bucketUrl: string
  /** The derivatives, sorted by key. */
  derivatives: IndexedFile['derivatives']
}

/** Returns the state of a stored original and of its derivatives. @throws Problem 404 */
export type Describe = (request: FileRequest) => Promise<DescribedFile>

export function createDescribe({
  index,
  buckets,
  originals,
}: {
  index: FileLookup
  buckets: Buckets
  originals: Originals
}): Describe {
  return async (request) => {
    const found = await originalOf(originals, request)
    const { client } = request
    const { key } = found.name
    const known = await index.look({ clientId: client.id, key })
    if (known?.original.state !== 'stored') throw fileNotFound()
    const derivatives = known.derivatives
      .filter((one) => !isReservedKey(key, one.key) && classifyKey(one.key) !== undefined)
      .sort((one, other) => (one.key < other.key ? -1 : 1))
    return {
      name: found.name,
      record: known.original.record,
      bucketUrl: buckets.of(client).urlOf(key),
      derivatives,
    }
  }
}

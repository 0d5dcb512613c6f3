import { type OriginalName, parseKey } from '../../core/files/object-key.ts'
import type { Buckets } from '../../core/ports/bucket.ts'
import type { FileLists, ListedFile } from '../../core/ports/file-index.ts'
import { matchesRecord } from './filters.ts'
import { createFindFew } from './find-few.ts'
import { listPages } from './list-pages.ts'
import { InvalidPosition, type ListRequest } from './list-request.ts'
import { listedSoon, notListedYet } from './listed-soon.ts'

/** A file of a list, with the parts of its key. */
export interface NamedFile extends ListedFile {
  name: OriginalName
  /** The URL of the file in the bucket. */
  bucketUrl: string
}

/** One page of a list. */
export interface ListPart {
  /** At most `limit` files. Fewer files, or none, do not mean that the list has ended. */
  files: NamedFile[]
  /** The position for `after` of the next request. Undefined at the end of the list. */
  next: string | undefined
}

/** Lists a part of a client's originals. @throws InvalidPosition; Problem 503, also while the index is being built */
export type List = (request: ListRequest) => Promise<ListPart>

// Limits the annotations in a response. A record has at most 20 KB.
const BYTES_MAX = 4 * 1024 * 1024

export function createList({ index, buckets }: { index: FileLists; buckets: Buckets }): List {
  const findFew = createFindFew({ index })
  /** Earlier versions have no lists by name and by size. */
  const isReady = ({ client, by }: ListRequest) =>
    by === 'name' || by === 'size' ? index.isCounted(client.id) : index.isComplete(client.id)

  /** Returns the list, unless the index was emptied or replaced while it was read. @throws Problem 503 */
  async function whole(request: ListRequest, list: ListPart): Promise<ListPart> {
    if (!(await isReady(request))) throw notListedYet()
    return list
  }

  return async (request) => {
    const { client, by, after, limit, signal } = request
    if (after !== undefined && !index.isPosition(after, by)) throw new InvalidPosition()
    await listedSoon(() => isReady(request), signal)
    const files: NamedFile[] = []
    let bytes = 0
    const bucket = buckets.of(client)
    const isFull = () => files.length === limit || bytes > BYTES_MAX
    const add = (file: ListedFile, name: OriginalName) => {
      files.push({ ...file, name, bucketUrl: bucket.urlOf(name.key) })
      bytes += estimatedBytes(file)
    }
    // There is at least one more file, so the list continues.
    const fullPart = () => whole(request, { files, next: files.at(-1)?.position })

    const few = await findFew(request)
    for (const file of few ?? []) {
      if (isFull()) return fullPart()
      const name = parseKey(file.record.key)
      if (name) add(file, name)
    }
    if (few) return whole(request, { files, next: undefined })

    let next = request.after
    // One more than requested shows whether there is a next part.
    for await (const page of listPages(index, request, () => limit - files.length + 1)) {
      for (const file of page.files) {
        const name = parseKey(file.record.key)
        if (isFull()) return fullPart()
        if (name && matchesRecord(file.record, request)) add(file, name)
      }
      next = page.next
    }
    return whole(request, { files, next })
  }
}

function estimatedBytes({ record }: ListedFile): number {
  const { tags = [], metadata = {} } = record
  return [...tags, ...Object.entries(metadata).flat()].reduce((sum, text) => sum + text.length, 1000)
}

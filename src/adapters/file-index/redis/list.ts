import type { FileRef } from '../../../core/files/file-ref.ts'
import { storedKey } from '../../../core/files/object-key.ts'
import type { FilesBetween, IndexedFile } from '../../../core/ports/file-index.ts'
import type { KeyRange } from '../../../core/ports/index/steps.ts'
import { byBytes } from '../../../core/text/byte-order.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { indexedFile } from './names.ts'

// Keys that Redis looks at before it answers.
const PAGE = 1000
// Hashes read at a time: a hash with a thousand derivatives has about 200 kB.
const HASHES = 50

/** All originals on a Redis whose hash has a name of this pattern. Reads all keys by SCAN, which may return a key twice. */
export async function* listEntries(
  redis: RedisConnection,
  { pattern, refIn }: { pattern: string; refIn(name: string): FileRef },
): AsyncIterable<IndexedFile> {
  for await (const page of listNames(redis, pattern))
    for (let from = 0; from < page.length; from += HASHES) {
      const names = page.slice(from, from + HASHES)
      const hashes = await redis.send((client) => Promise.all(names.map((name) => client.hgetall(name))))
      for (const [i, name] of names.entries()) {
        const file = indexedFile(refIn(name), hashes[i] ?? {})
        if (file) yield file
      }
    }
}

/** The names of all hashes on a Redis that match a pattern, page by page. Reads all keys by SCAN, which may return a key twice. */
export async function* listNames(redis: RedisConnection, pattern: string): AsyncIterable<string[]> {
  for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
    const page = await redis.send((client) =>
      client.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE, 'TYPE', 'hash'),
    )
    cursor = page[0]
    yield page[1]
  }
}

/** The originals of several lists by key, in the order of their keys. */
export async function filesBetween(
  redis: RedisConnection,
  {
    clientId,
    lists,
    after,
    upTo,
    limit,
    hashOf,
  }: KeyRange & {
    clientId: string
    lists: readonly string[]
    limit: number
    hashOf(ref: FileRef): string
  },
): Promise<FilesBetween> {
  const [min, max] = [after === '' ? '-' : `(${after}`, upTo === undefined ? '+' : `[${upTo}`]
  const found = await redis.send((client) =>
    Promise.all(lists.map((list) => client.zrangebylex(list, min, max, 'LIMIT', 0, limit))),
  )
  const keys = [...new Set(found.flat())].sort(byBytes).slice(0, limit)
  const refs = keys.map((key) => ({ clientId, key: storedKey(key) }))
  const files: IndexedFile[] = []
  for (let from = 0; from < refs.length; from += HASHES) {
    const some = refs.slice(from, from + HASHES)
    const hashes = await redis.send((client) => Promise.all(some.map((ref) => client.hgetall(hashOf(ref)))))
    for (const [i, ref] of some.entries()) {
      const file = indexedFile(ref, hashes[i] ?? {})
      // Since its list was read, its state may have changed.
      if (file && 'record' in file.original) files.push(file)
    }
  }
  return { files, next: keys.length < limit ? undefined : keys.at(-1) }
}

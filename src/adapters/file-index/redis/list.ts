import type { FileRef } from '../../../core/files/file-ref.ts'
import type { IndexedFile } from '../../../core/ports/file-index.ts'
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

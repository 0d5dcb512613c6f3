import type { FileRef } from '../../../core/files/file-ref.ts'
import { storedKey } from '../../../core/files/object-key.ts'
import type { FilesBetween, IndexedFile } from '../../../core/ports/file-index.ts'
import type { KeyRange } from '../../../core/ports/index/steps.ts'
import { byBytes } from '../../../core/text/byte-order.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { redisScript } from '../../redis/script.ts'
import type { ListKeys, ReadPositions } from './lists/read.ts'
import { indexedFile } from './names.ts'

// Keys that Redis looks at before it answers.
const PAGE = 1000
// Hashes read at a time: a hash with a thousand derivatives has about 200 kB.
const HASHES = 50

// Redis reads so many in about 0.2 ms.
const ENTRIES = 100
// A script for fewer takes longer than a command for each.
const FEW = 8

/** The entries of originals, as texts, by the names of their hashes. */
export async function readEntries(
  redis: RedisConnection,
  names: readonly string[],
): Promise<Array<string | null>> {
  if (names.length <= FEW)
    return redis.send((client) => Promise.all(names.map((name) => client.hget(name, ''))))
  const chunks = Array.from({ length: Math.ceil(names.length / ENTRIES) }, (_, i) =>
    names.slice(i * ENTRIES, (i + 1) * ENTRIES),
  )
  return (await Promise.all(chunks.map((chunk) => entriesOf(redis, chunk, []) as Promise<string[]>))).flat()
}

/** KEYS: hashes of originals. */
const entriesOf = redisScript(`
local entries = {}
for i, name in ipairs(KEYS) do entries[i] = redis.call('HGET', name, '') end
return entries`)

/** All originals on a Redis whose hash has a name of this pattern. Reads all keys by SCAN, which may return a key twice. */
export async function* listEntries(
  redis: RedisConnection,
  { pattern, refIn }: { pattern: string; refIn(name: string): FileRef },
): AsyncIterable<IndexedFile> {
  for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
    const page = await redis.send((client) =>
      client.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE, 'TYPE', 'hash'),
    )
    cursor = page[0]
    for (let from = 0; from < page[1].length; from += HASHES) {
      const names = page[1].slice(from, from + HASHES)
      const hashes = await redis.send((client) => Promise.all(names.map((name) => client.hgetall(name))))
      for (const [i, name] of names.entries()) {
        const file = indexedFile(refIn(name), hashes[i] ?? {})
        if (file) yield file
      }
    }
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
    positionsIn,
  }: KeyRange & {
    clientId: string
    lists: readonly ListKeys[]
    limit: number
    hashOf(ref: FileRef): string
    positionsIn: ReadPositions
  },
): Promise<FilesBetween> {
  const bounds = { above: after === '' ? undefined : after, below: undefined, upTo }
  const found = await Promise.all(lists.map((list) => positionsIn(list, { limit }, bounds)))
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

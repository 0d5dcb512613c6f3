import type { FileRef } from '../../../core/files/file-ref.ts'
import type { IndexedFile } from '../../../core/ports/file-index.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { ifReadable } from './entries/packed.ts'
import { KEY_FIELD } from './lists/lua.ts'
import { keyAt } from './lists/originals.ts'
import { placeNamed } from './lists/places.ts'
import { indexedFile } from './names.ts'

// Keys that Redis looks at before it answers.
const PAGE = 1000
// Hashes read at a time: a hash with a thousand derivatives has about 200 kB.
const HASHES = 50

/** Names of hashes on a Redis. */
export interface NamesOnRedis {
  /** A pattern of SCAN that matches them. */
  pattern: string
  /** The client and the end of a name: a place, see `lists/places.ts`. */
  parse(name: string): { clientId: string; end: string }
}

/** All originals whose hash has one of these names, without those that cannot be read. Reads all keys by SCAN, which may return a key twice. */
export async function* listEntries(
  redis: RedisConnection,
  { pattern, parse }: NamesOnRedis,
): AsyncIterable<IndexedFile> {
  for await (const page of listNames(redis, pattern))
    for (let from = 0; from < page.length; from += HASHES) {
      const names = page.slice(from, from + HASHES)
      const hashes = await redis.send((client) =>
        Promise.all(names.map((name) => client.hgetallBuffer(name))),
      )
      for (const [i, name] of names.entries()) {
        const hash = hashes[i] ?? {}
        const ref = refOf(parse(name), hash[KEY_FIELD]?.toString())
        const file = ref && ifReadable(() => indexedFile(ref, hash))
        if (file) yield file
      }
    }
}

/** The same without their entries, page by page. Only those hashes are read that are wanted by their name. */
export async function* listRefs(
  redis: RedisConnection,
  { pattern, parse, isWanted }: NamesOnRedis & { isWanted(name: string): boolean },
): AsyncIterable<Array<{ name: string; ref: FileRef }>> {
  for await (const page of listNames(redis, pattern)) {
    const names = page.filter(isWanted)
    // Not by one script: in a cluster, the hashes of a node are in several slots.
    const rests = await redis.send((client) => Promise.all(names.map((name) => client.hget(name, KEY_FIELD))))
    yield names.flatMap((name, i) => {
      const ref = refOf(parse(name), rests[i] ?? undefined)
      return ref ? [{ name, ref }] : []
    })
  }
}

function refOf(
  { clientId, end }: ReturnType<NamesOnRedis['parse']>,
  rest: string | undefined,
): FileRef | undefined {
  const key = keyAt(placeNamed(end), rest)
  return key === undefined ? undefined : { clientId, key }
}

async function* listNames(redis: RedisConnection, pattern: string): AsyncIterable<string[]> {
  for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
    const page = await redis.send((client) =>
      client.scan(cursor, 'MATCH', pattern, 'COUNT', PAGE, 'TYPE', 'hash'),
    )
    cursor = page[0]
    yield page[1]
  }
}

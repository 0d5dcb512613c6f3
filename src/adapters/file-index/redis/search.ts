import type { FileLists } from '../../../core/ports/file-index.ts'
import type { FileSearch, Findable } from '../../../core/ports/index/file-search.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { listed, positionOf } from '../positions.ts'
import { searchedKeys, searchTexts } from '../search-terms.ts'
import { originalEntry } from './entries.ts'
import { nameOf, ownerOf } from './names.ts'

/** The keys of a client's search, as `search-lua.ts` describes them. */
export function searchKeys(keyPrefix: string, clientId: string): [texts: string, terms: string] {
  const owner = ownerOf(clientId)
  return [`${keyPrefix}texts:${owner}`, `${keyPrefix}terms:${owner}`]
}

/** The key that exists when the search has all originals. */
export function searchableKey(keyPrefix: string): string {
  return `${keyPrefix}searchable`
}

/** The texts of an original as scripts take them. */
export function searchText(record: Findable): string {
  return searchTexts(record).join('\n')
}

/** The search of originals, in Redis. */
export function redisSearch(
  redis: RedisConnection,
  { keyPrefix }: { keyPrefix: string },
): FileSearch & Pick<FileLists, 'pick'> {
  return {
    search: (clientId, term, { most }) =>
      searchedKeys(term, {
        most,
        async read(one) {
          const [, terms] = searchKeys(keyPrefix, clientId)
          const from = 'whole' in one ? `${one.whole}\n` : one.beginning
          // No text in UTF-8 has this byte.
          const end = Buffer.concat([Buffer.from(`(${from}`), Buffer.from([0xff])])
          // The first letters of a word match many terms. To count them takes 5 µs of Redis, to read 10,000 of them 8 ms.
          if ((await redis.send((client) => client.zlexcount(terms, `[${from}`, end))) > most)
            return undefined
          const members = await redis.send((client) =>
            client.zrangebylex(terms, `[${from}`, end, 'LIMIT', 0, most + 1),
          )
          return members.map((member) => {
            const last = member.lastIndexOf('\n')
            return [member.slice(0, last), member.slice(last + 1)]
          })
        },
      }),
    async pick(clientId, { state, by, keys }) {
      const texts = await redis.send((client) =>
        Promise.all(keys.map((key) => client.hget(`${keyPrefix}file:${nameOf({ clientId, key })}`, ''))),
      )
      return keys.flatMap((key, i) => {
        const entry = texts[i] ? originalEntry(key, texts[i]) : undefined
        return entry?.state === state ? [listed(entry, positionOf(entry.record, by))] : []
      })
    },
    async isSearchable(clientId, record) {
      const [texts] = searchKeys(keyPrefix, clientId)
      return (await redis.send((client) => client.hget(texts, record.key))) === searchText(record)
    },
    async canSearch() {
      return (await redis.send((client) => client.exists(searchableKey(keyPrefix)))) === 1
    },
  }
}

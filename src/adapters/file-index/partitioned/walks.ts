import type { FileRef } from '../../../core/files/file-ref.ts'
import { storedKey } from '../../../core/files/object-key.ts'
import type { IndexedFile } from '../../../core/ports/file-index.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { LISTED_STATES } from '../positions.ts'
import { hashPrefix, keyNames } from '../redis/keys.ts'
import { listEntries, listRefs } from '../redis/list.ts'
import { escapePattern, ownerOf, parseName, refNamed } from '../redis/names.ts'
import { readMembers } from '../redis/tree/read.ts'

const PAGE = 1000

/** A file in the partition with this number. */
export interface Placed {
  ref: FileRef
  number: number
}

/** Walks over the keys of a cluster. */
export function clusterWalks(keyspaces: readonly RedisKeyspace[]) {
  // The keys of all keyspaces have the same names, except for the hash tag.
  const untagged = hashPrefix((keyspaces[0]?.keyPrefix ?? '').replace(/^\{[^}]*\}/, ''))
  const numbers = new Map(keyspaces.map(({ keyPrefix }, number) => [tagIn(keyPrefix), number]))
  const namesOf = (clientId?: string) => ({
    pattern: `{*}${escapePattern(untagged + (clientId === undefined ? '' : ownerOf(clientId)))}*`,
    parse: (name: string) => parseName(name.slice(tagIn(name).length + untagged.length)),
  })

  /** One connection for each node that has one of these keyspaces. */
  async function* nodesWith(some: readonly RedisKeyspace[]): AsyncIterable<RedisConnection> {
    const nodes = new Set<unknown>()
    for (const { redis } of some) {
      const node = await redis.send((client) => client.cluster('MYID'))
      if (!nodes.has(node)) yield redis
      nodes.add(node)
    }
  }

  return {
    /** All files, or those of a client. Reads all keys of each node once. */
    async *entries(clientId?: string): AsyncIterable<IndexedFile> {
      for await (const redis of nodesWith(keyspaces)) yield* listEntries(redis, namesOf(clientId))
    },

    /**
     * Those files of a client in some partitions whose id is wanted, page by page. Reads all keys of their nodes once, and also returns
     * pages without files.
     * @param isWantedId whether a file is wanted, by a text that begins with its id, and the number of its partition
     */
    async *placed(
      clientId: string,
      some: readonly number[],
      isWantedId: (id: string, number: number) => boolean,
    ): AsyncIterable<Placed[]> {
      const names = namesOf(clientId)
      const numberOf = (name: string) => {
        const number = numbers.get(tagIn(name))
        return number !== undefined && some.includes(number) ? number : undefined
      }
      const isWanted = (name: string) => {
        const number = numberOf(name)
        if (number === undefined) return false
        const { end } = names.parse(name)
        return isWantedId(end.slice(end.lastIndexOf('/') + 1), number)
      }
      for await (const redis of nodesWith(some.map((number) => keyspaces[number] as RedisKeyspace)))
        for await (const page of listRefs(redis, { ...names, isWanted }))
          yield page.map(({ name, ref }) => ({ ref, number: numberOf(name) as number }))
    },

    /** As `placed`, but only the files that are listed, overdue or pending. Reads no other keys. */
    async *listed(clientId: string, some: readonly number[]): AsyncIterable<Placed[]> {
      for (const number of some) {
        const { redis, keyPrefix } = keyspaces[number] as RedisKeyspace
        const { listOf, unsettled } = keyNames(keyPrefix)
        for (const state of LISTED_STATES) {
          const list = listOf(clientId, { state, by: 'key' })
          for (let above: Buffer | undefined, isLast = false; !isLast; ) {
            const keys = await readMembers(redis, list, { limit: PAGE, above })
            yield keys.map((key) => ({ ref: { clientId, key: storedKey(String(key)) }, number }))
            isLast = keys.length < PAGE
            above = keys.at(-1)
          }
        }
        for await (const member of members(redis, unsettled, `${escapePattern(ownerOf(clientId))}*`)) {
          const [name = ''] = member.split('\n')
          yield [{ ref: refNamed(name), number }]
        }
      }
    },
  }
}

/** The members of a sorted set that match a pattern. One may be returned twice. */
async function* members(redis: RedisConnection, set: string, pattern: string): AsyncIterable<string> {
  for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
    const [next, found] = await redis.send((client) =>
      client.zscan(set, cursor, 'MATCH', pattern, 'COUNT', PAGE),
    )
    cursor = next
    for (let i = 0; i < found.length; i += 2) yield found[i] ?? ''
  }
}

/** The hash tag at the beginning of a name, with its braces. */
function tagIn(name: string): string {
  return name.slice(0, name.indexOf('}') + 1)
}

import { LRUCache } from 'lru-cache'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { redisScript } from '../../redis/script.ts'
import { listEntries } from '../redis/list.ts'
import { escapePattern, ownerOf, refNamed } from '../redis/names.ts'
import { redisIndex } from '../redis/redis.ts'
import { partitionedIndex } from './partitioned.ts'
import { firstPartition } from './partitions.ts'

// A node that was emptied has lost the numbers of its clients, and another process may store other ones.
const TRUST_MS = 1000
const REMEMBERED = 10_000

/**
 * The index in a Redis Cluster: one partition per keyspace.
 *
 * @param options.perClient among how many partitions the files of a new client are divided, from 1 to all. The value of a client is
 *   stored when the index is first used for it, also by a list or a request for an unknown file
 */
export function clusterIndex(
  keyspaces: readonly RedisKeyspace[],
  { perClient }: { perClient: number },
): FileIndex {
  const noted = new LRUCache<string, number>({
    max: REMEMBERED,
    ttl: TRUST_MS,
    fetchMethod: async (clientId, stale) => {
      const { redis, keyPrefix } = keyspaces[firstPartition(clientId)] as RedisKeyspace
      try {
        return Number(await noteNumber(redis, [`${keyPrefix}partitions:${ownerOf(clientId)}`], [perClient]))
      } catch (error) {
        // While the node is down that has the number, the others can be used.
        if (stale === undefined) throw error
        return stale
      }
    },
  })
  const indexes = keyspaces.map(({ redis, keyPrefix }) => redisIndex(redis, { keyPrefix }))
  // The keys of all keyspaces have the same names, except for the hash tag.
  const untagged = `${(keyspaces[0]?.keyPrefix ?? '').replace(/^\{[^}]*\}/, '')}file:`
  return partitionedIndex(indexes, {
    perClient: (clientId) => noted.forceFetch(clientId),
    /** Reads all keys of each node once. */
    async *list(clientId) {
      const nodes = new Set<unknown>()
      for (const { redis } of keyspaces) {
        const node = await redis.send((client) => client.cluster('MYID'))
        if (nodes.has(node)) continue
        nodes.add(node)
        yield* listEntries(redis, {
          pattern: `{*}${escapePattern(untagged + (clientId === undefined ? '' : ownerOf(clientId)))}*`,
          refIn: (name) => refNamed(name.slice(name.indexOf('}') + 1 + untagged.length)),
        })
      }
    },
  })
}

const noteNumber = redisScript(`
local known = redis.call('GET', KEYS[1])
if not known then redis.call('SET', KEYS[1], ARGV[1]) end
return known or ARGV[1]`)

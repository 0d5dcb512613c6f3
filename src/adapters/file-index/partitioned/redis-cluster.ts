import { LRUCache } from 'lru-cache'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { RedisPlace } from '../../redis/places.ts'
import { redisScript } from '../../redis/script.ts'
import { listEntries } from '../redis/list.ts'
import { escapePattern, ownerOf, refNamed } from '../redis/names.ts'
import { redisIndex } from '../redis/redis.ts'
import { partitionedIndex } from './partitioned.ts'
import { homeOf } from './partitions.ts'

// A lost node may forget the number of a client, and then another process may set another one.
const TRUST_MS = 1000
const REMEMBERED = 10_000

/**
 * The index in a Redis Cluster: one partition per place.
 *
 * @param options.perClient among how many partitions the files of a new client are divided, from 1 to all. The index notes it when
 *   it first needs it, so a later change does not affect the clients that it knows
 */
export function clusterIndex(places: readonly RedisPlace[], { perClient }: { perClient: number }): FileIndex {
  const noted = new LRUCache<string, number>({
    max: REMEMBERED,
    ttl: TRUST_MS,
    // While the node is down that has the number, the others can be used.
    allowStaleOnFetchRejection: true,
    fetchMethod: async (clientId) => {
      const { redis, keyPrefix } = places[homeOf(clientId)] as RedisPlace
      return Number(await noteNumber(redis, [`${keyPrefix}partitions:${ownerOf(clientId)}`], [perClient]))
    },
  })
  const indexes = places.map(({ redis, keyPrefix }) => redisIndex(redis, { keyPrefix }))
  // The keys of all places have the same names, except for the hash tag.
  const untagged = `${(places[0]?.keyPrefix ?? '').replace(/^\{[^}]*\}/, '')}file:`
  return partitionedIndex(indexes, {
    perClient: async (clientId) => (await noted.fetch(clientId)) as number,
    /** Reads all keys of each node once. */
    async *list(clientId) {
      const nodes = new Set<unknown>()
      for (const { redis } of places) {
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
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])`)

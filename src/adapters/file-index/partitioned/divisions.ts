import { LRUCache } from 'lru-cache'
import { isUnavailable } from '../../../core/problem.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { fenceOf } from '../fence.ts'
import { ownerOf } from '../redis/names.ts'
import { type Division, divisionIn, firstPartition, textOf } from './division.ts'
import { changeDivision, readDivision } from './move-scripts.ts'
import { movesNoted } from './moves-noted.ts'

const REMEMBERED = 10_000

/**
 * How the files of each client are divided. Each client has a key `partitions:<client>` in its first partition, with the text of
 * {@link textOf}. Older versions refuse a client that has moved.
 *
 * @param options.perClient the number of a new client. It is stored when it is first read
 * @param options.trustMs for how long a process trusts what it has read. A step by an old division is refused by the fence, and a read
 *   by an old one is repeated
 * @param options.now milliseconds of a clock that never goes back
 */
export function redisDivisions(
  keyspaces: readonly RedisKeyspace[],
  {
    perClient,
    trustMs,
    now = () => performance.now(),
  }: { perClient: number; trustMs: number; now?: () => number },
) {
  const moves = movesNoted(keyspaces)
  const at = (clientId: string) => {
    const { redis, keyPrefix } = keyspaces[firstPartition(clientId)] as RedisKeyspace
    return { redis, keys: [divisionKey(keyPrefix, clientId), fenceOf(keyPrefix, clientId)] }
  }
  /** @param added stored where the client has no division. @returns an empty text when there is none */
  const textIn = async (clientId: string, added: string, least = 0) => {
    const { redis, keys } = at(clientId)
    return (await readDivision(redis, keys, [added, least])) as string
  }
  /** The division that a client has or gets: that of its last move when its node has lost all data. */
  const lastOr = async (clientId: string) => (await moves.of(clientId)) ?? String(perClient)
  const textOrAdded = async (clientId: string, least?: number) =>
    (await textIn(clientId, '', least)) || textIn(clientId, await lastOr(clientId), least)
  const known = new LRUCache<string, { text: string }>({
    max: REMEMBERED,
    ttl: trustMs,
    ttlResolution: 0,
    perf: { now },
    // A fetch that `read` overtakes still has its answer: it may be old by the time of one round trip.
    ignoreFetchAbort: true,
    async fetchMethod(clientId, stale) {
      try {
        return { text: await textOrAdded(clientId) }
      } catch (error) {
        // While the node is down that has the division, the others can be used.
        if (stale === undefined || !isUnavailable(error)) throw error
        return stale
      }
    },
  })

  return {
    /** The division as it was at most `trustMs` ago, or when its node was last available. @throws Problem 503 */
    trusted: async (clientId: string): Promise<Division> =>
      divisionIn((await known.forceFetch(clientId)).text),
    /**
     * The division as it is stored now.
     * @param least the epoch that a partition has. If the division has a smaller one, its node has lost the last change of it. Then it
     *   gets a greater epoch: otherwise this partition would refuse all steps
     */
    async read(clientId: string, least?: number): Promise<Division> {
      const text = await textOrAdded(clientId, least)
      known.set(clientId, { text })
      return divisionIn(text)
    },
    /** The same, but nothing is stored: for a client that may never be used. */
    async peek(clientId: string): Promise<Division> {
      return divisionIn((await textIn(clientId, '')) || (await lastOr(clientId)))
    },
    /** Replaces a division by one with a greater epoch. @returns false when the current one differs */
    async change(clientId: string, from: Division, to: Division): Promise<boolean> {
      const { redis, keys } = at(clientId)
      return (await changeDivision(redis, keys, [textOf(from), textOf(to), to.epoch])) === 1
    },
  }
}

export type Divisions = ReturnType<typeof redisDivisions>

/** The key with the division of a client, in the keyspace of its first partition. */
export function divisionKey(keyPrefix: string, clientId: string): string {
  return `${keyPrefix}partitions:${ownerOf(clientId)}`
}

import type { FileRef } from '../../../core/files/file-ref.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { Partitioning } from '../../../core/ports/index/partitioning.ts'
import { isUnavailable } from '../../../core/problem.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { fenceOf, StaleDivision } from '../fence.ts'
import { removeFormer } from '../redis/layout.ts'
import { redisIndex } from '../redis/redis.ts'
import { divisionIn, placesBy } from './division.ts'
import { redisDivisions } from './divisions.ts'
import { addFilesToChange } from './move-scripts.ts'
import { MOVE_TIMES, type MoveTimes } from './move-times.ts'
import { movesNoted } from './moves-noted.ts'
import { partitionedIndex } from './partitioned.ts'
import { clusterPartitioning } from './partitioning.ts'
import { dropFrom, pullFiles } from './pull.ts'
import { clusterWalks } from './walks.ts'

/**
 * The index in a Redis Cluster: one partition per keyspace.
 *
 * @param options.perClient among how many partitions the files of a new client are divided, from 1 to all. The value of a client is
 *   stored when the index is first used for it, also by a list or a request for an unknown file
 * @param options.times of moves; tests have shorter ones
 */
export function clusterIndex(
  keyspaces: readonly RedisKeyspace[],
  { perClient, times = MOVE_TIMES }: { perClient: number; times?: MoveTimes },
): { index: FileIndex; partitioning: Partitioning } {
  const divisions = redisDivisions(keyspaces, { perClient, trustMs: times.trustMs })
  const walks = clusterWalks(keyspaces)
  const moves = movesNoted(keyspaces)
  const keyspaceOf = (number: number) => keyspaces[number] as RedisKeyspace
  const all = keyspaces.map(({ redis, keyPrefix }) => redisIndex(redis, { keyPrefix }))
  /** The partitions for steps, by epoch. Nearly all clients have a small one. */
  const fenced = new Map<string, FileIndex>()
  const index = partitionedIndex(all, {
    division: divisions.trusted,
    currentDivision: divisions.read,
    async epochIn(number, clientId) {
      const { redis, keyPrefix } = keyspaceOf(number)
      return Number(await redis.send((client) => client.get(fenceOf(keyPrefix, clientId))))
    },
    fenced(number, epoch) {
      const name = `${number} ${epoch}`
      const known = fenced.get(name)
      if (known) return known
      const { redis, keyPrefix } = keyspaceOf(number)
      const added = redisIndex(redis, { keyPrefix, epoch })
      fenced.set(name, added)
      return added
    },
    pull: (refs, division) => pullFiles(refs, division, keyspaces, addFilesToChange),
    async dropStray(ref: FileRef, number) {
      try {
        const division = await divisions.trusted(ref.clientId)
        if (placesBy(ref, division).includes(number)) return false
        await dropFrom(keyspaceOf(number), [ref], division.epoch)
      } catch (error) {
        if (isUnavailable(error)) return false
        if (!(error instanceof StaleDivision)) throw error
        // It may belong to this partition now. A later sweep finds it again, by the current division.
        await divisions.read(ref.clientId, error.epoch)
      }
      return true
    },
    removeFormer: (signal) =>
      removeFormer(keyspaces, {
        signal,
        nodeOf: async ({ redis }) => String(await redis.send((client) => client.cluster('MYID'))),
      }),
    /** A file that moves while the nodes are read one after the other can be missed. So clients with a move are read again. */
    async *list(clientId) {
      const before = await moves.read()
      yield* walks.entries(clientId)
      for (const [id, text] of Object.entries(await moves.read())) {
        const isOfList = clientId === undefined || clientId === id
        const { from, to } = divisionIn(text)
        if (isOfList && (from !== to || before[id] !== text)) yield* walks.entries(id)
      }
    },
  })
  return { index, partitioning: clusterPartitioning(keyspaces, { divisions, moves, times }) }
}

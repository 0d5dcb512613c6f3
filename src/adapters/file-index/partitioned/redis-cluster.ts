import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { Partitioning } from '../../../core/ports/index/partitioning.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { redisIndex } from '../redis/redis.ts'
import { MOVE_TIMES, redisDivisions } from './divisions.ts'
import { partitionedIndex } from './partitioned.ts'
import { clusterPartitioning } from './partitioning.ts'
import type { Division } from './partitions.ts'
import { pullFile } from './pull.ts'
import { clusterWalks } from './walks.ts'

/**
 * The index in a Redis Cluster: one partition per keyspace.
 *
 * @param options.perClient among how many partitions the files of a new client are divided, from 1 to all. The value of a client is
 *   stored when the index is first used for it, also by a list or a request for an unknown file
 * @param options.times the times of a move; tests have shorter ones
 */
export function clusterIndex(
  keyspaces: readonly RedisKeyspace[],
  { perClient, times = MOVE_TIMES }: { perClient: number; times?: typeof MOVE_TIMES },
): { index: FileIndex; partitioning: Partitioning } {
  const divisions = redisDivisions(keyspaces, { perClient, times })
  const walks = clusterWalks(keyspaces)
  const indexes = keyspaces.map(({ redis, keyPrefix }) => redisIndex(redis, { keyPrefix }))
  const index = partitionedIndex(indexes, {
    perClient: divisions.of,
    pull: (ref, move) => pullFile(ref, move, keyspaces),
    /** A file that moves while the nodes are read one after the other can be missed. So clients with a move are read again. */
    async *list(clientId) {
      const before = new Map<string, Division>()
      const note = async (id: string) => {
        if (!before.has(id)) before.set(id, await divisions.of(id))
      }
      if (clientId !== undefined) await note(clientId)
      for await (const file of walks.entries(clientId)) {
        await note(file.ref.clientId)
        yield file
      }
      for (const [id, division] of before)
        if (typeof division === 'object' || (await divisions.of(id)) !== division) yield* walks.entries(id)
    },
  })
  return { index, partitioning: clusterPartitioning(keyspaces, divisions) }
}

import { partitionedIndex } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis } from '../../../../src/adapters/redis/connection.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { fileIndexContract } from '../../../contracts/file-index/file-index.ts'
import { newKeyPrefix, sharedRedis } from '../../../support/servers/redis-server.ts'
import { sized } from '../../../support/sized.ts'
import { neverMoving } from './moving.ts'

// The usual run has the contract on a real cluster, with all partitions.
for (const perClient of sized([], [1, 7, PARTITIONS]))
  fileIndexContract(
    `an index of ${PARTITIONS} partitions, ${perClient} per client`,
    async () => {
      const { url } = await sharedRedis()
      const [redis, other] = [connectRedis({ url }), connectRedis({ url })]
      await Promise.all([redis.ready(), other.ready()])
      const prefixes = Array.from({ length: PARTITIONS }, newKeyPrefix)
      const on = (connection: typeof redis): FileIndex => {
        const all = prefixes.map((keyPrefix) => redisIndex(connection, { keyPrefix }))
        return partitionedIndex(all, neverMoving(all, perClient))
      }
      return {
        index: on(redis),
        elsewhere: on(other),
        ...(perClient > 1 ? { isMerged: true } : {}),
        async close() {
          await Promise.all([redis.close(), other.close()])
        },
      }
    },
    // Each look at what is overdue asks all partitions.
    { steps: 1000 },
  )

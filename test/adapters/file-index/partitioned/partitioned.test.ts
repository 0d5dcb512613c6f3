import { partitionedIndex } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { redisIndex } from '../../../../src/adapters/file-index/redis/redis.ts'
import { connectRedis } from '../../../../src/adapters/redis/connection.ts'
import { CELLS } from '../../../../src/core/files/cell.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import { fileIndexContract } from '../../../contracts/file-index/file-index.ts'
import { newKeyPrefix, sharedRedis } from '../../../support/servers/redis-server.ts'

for (const perClient of [1, 7, CELLS])
  fileIndexContract(`an index of ${CELLS} partitions, ${perClient} per client`, async () => {
    const { url } = await sharedRedis()
    const [redis, other] = [connectRedis({ url }), connectRedis({ url })]
    await Promise.all([redis.ready(), other.ready()])
    const prefixes = Array.from({ length: CELLS }, newKeyPrefix)
    const on = (connection: typeof redis): FileIndex => {
      const all = prefixes.map((keyPrefix) => redisIndex(connection, { keyPrefix }))
      return partitionedIndex(all, {
        perClient: async () => perClient,
        async *list(clientId) {
          for (const index of all) yield* index.list(clientId)
        },
      })
    }
    return {
      index: on(redis),
      elsewhere: on(other),
      // Each of them may be asked twice, for a few files more than its share.
      mostRead: (limit) => 2 * perClient * (Math.ceil(limit / perClient) + 3),
      async close() {
        await Promise.all([redis.close(), other.close()])
      },
    }
  })

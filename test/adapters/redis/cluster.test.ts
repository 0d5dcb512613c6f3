import { clusterIndex } from '../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { connectPlaces, PLACES, type RedisPlaces } from '../../../src/adapters/redis/places.ts'
import { CELLS } from '../../../src/core/files/cell.ts'
import { fileIndexContract } from '../../contracts/file-index/file-index.ts'
import { type RedisCluster, startRedisCluster } from '../../support/servers/redis-cluster.ts'
import { newKeyPrefix } from '../../support/servers/redis-server.ts'

describe('a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster
  before(async () => {
    cluster = await startRedisCluster()
  })
  after(() => cluster.remove())

  fileIndexContract(`its index, with the files of a client on ${CELLS} places`, async () => {
    const [here, elsewhere] = [connectPlaces({ url: cluster.url }), connectPlaces({ url: cluster.url })]
    await Promise.all([here.ready(), elsewhere.ready()])
    const prefix = newKeyPrefix()
    const indexOn = ({ all }: RedisPlaces) =>
      clusterIndex(
        all.map(({ redis, keyPrefix }) => ({ redis, keyPrefix: keyPrefix + prefix })),
        { perClient: PLACES },
      )
    return {
      index: indexOn(here),
      elsewhere: indexOn(elsewhere),
      mostRead: (limit: number) => 2 * PLACES * (Math.ceil(limit / PLACES) + 3),
      async close() {
        await Promise.all([here.close(), elsewhere.close()])
      },
    }
  })
})

import { expect } from 'chai'
import { partitionNumber } from '../../../src/adapters/file-index/partitioned/division.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../src/core/files/partition.ts'
import { eventually } from '../../support/eventually.ts'
import { deleteFile, uploadOne, type WireRecord } from '../../support/requests/client.ts'
import { exchange } from '../../support/requests/exchange.ts'
import { newFleet } from '../../support/servers/fleet.ts'
import { startRedisCluster } from '../../support/servers/redis-cluster.ts'
import type { RedisServer } from '../../support/servers/redis-server.ts'
import { itLong } from '../../support/sized.ts'
import { listAll } from '../../support/stored/files.ts'

describe('an upload on a Redis Cluster', function () {
  this.timeout(180_000)

  itLong(
    'that the replica has not received is found again from the bucket when the node is lost',
    async () => {
      const cluster = await startRedisCluster({ isReplicated: true })
      const fleet = await newFleet({
        files: 'disk',
        env: { REDIS_URL: cluster.url, INDEX_PARTITIONS: '64', LOG_LEVEL: 'error' },
      })
      try {
        const [primary, , , replica] = cluster.nodes as [RedisServer, RedisServer, RedisServer, RedisServer]
        const server = await fleet.start()
        /** Uploads until a file is on the first node. */
        const upload = async (): Promise<WireRecord> => {
          for (;;) {
            const record = await uploadOne(server, { name: 'a.txt', bytes: 'a' })
            const ref = { clientId: 'first', key: storedKey(record.s3PathOriginal) }
            if (cluster.primaryOf(partitionNumber(ref, PARTITIONS)) === 0) return record
          }
        }
        const earlier = await upload()
        replica.freeze()
        // What is in the buffers of a connection would arrive later.
        await cluster.ask(primary, 'CLIENT', 'KILL', 'TYPE', 'replica')
        const { s3PathOriginal: key, src } = await upload()
        expect(String(await cluster.ask(primary, 'INFO', 'replication'))).to.include('connected_slaves:0')
        await primary.stop()
        replica.thaw()
        await cluster.replaced(primary)

        await eventually(async () => {
          const listed = (await listAll(server)).map(({ s3PathOriginal }) => s3PathOriginal)
          expect(listed).to.include.members([earlier.s3PathOriginal, key])
        })
        const path = new URL(src).pathname
        expect((await exchange(server, path)).status).to.equal(200)
        expect((await deleteFile(server, key)).status).to.equal(200)
        expect((await exchange(server, path)).status).to.equal(404)
      } finally {
        await fleet.end()
        await cluster.remove()
      }
    },
  )
})

import { expect } from 'chai'
import { firstPartition } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { clusterIndex } from '../../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { connectKeyspaces, type RedisKeyspaces } from '../../../../src/adapters/redis/keyspaces.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import { adopted, newRef } from '../../../contracts/file-index/file-index-states.ts'
import { eventually } from '../../../support/eventually.ts'
import { type RedisCluster, startRedisCluster } from '../../../support/servers/redis-cluster.ts'
import type { RedisServer } from '../../../support/servers/redis-server.ts'
import { keysOf, moveOptions, TIMES } from './moving.ts'

const FILES = 600

describe('a move of a client whose first node fails', function () {
  this.timeout(120_000)
  let cluster: RedisCluster
  let keyspaces: RedisKeyspaces
  before(async () => {
    // The node fails, but clients wait long: a busy machine must not look like a failure of the others.
    cluster = await startRedisCluster({ isReplicated: true, fails: false })
    keyspaces = connectKeyspaces({ url: cluster.url })
    await keyspaces.ready()
  })
  after(async () => {
    await keyspaces?.close()
    await cluster.remove()
  })

  it('continues with its replica, and has moved all files at the end', async () => {
    const open = () =>
      clusterIndex(keyspaces.all, { perClient: 1, times: { ...TIMES, patienceMs: 60_000, retryMs: 50 } })
    const { index, partitioning } = open()
    const refs = Array.from({ length: FILES }, () => newRef('one'))
    await Promise.all(refs.map((ref) => adopted(index, ref)))
    // Each primary has a third of the partitions, in their order.
    const first = cluster.nodes[Math.floor((firstPartition('one') * 3) / PARTITIONS)] as RedisServer
    let isRunning = true
    const moved = await partitioning.move(
      'one',
      64,
      moveOptions({
        async progress({ phase, files }) {
          if (phase !== 'moving' || files < FILES / 4 || !isRunning) return
          isRunning = false
          // What the replica has not received is found again from the bucket, which this test does not have.
          await eventually(async () => expect(await lagOf(cluster, first)).to.equal(0))
          await first.stop()
        },
      }),
    )
    expect(isRunning).to.equal(false)
    expect(moved).to.include({ partitions: 64, isChanged: true })
    expect(await keysOf(open().index, 'one', { limit: 100 })).to.deep.equal(refs.map(({ key }) => key).sort())
    expect((await index.totals('one')).stored.files).to.equal(FILES)
  })
})

/** How many bytes the replica of a node lacks. NaN while it has none that works. */
async function lagOf({ ask }: RedisCluster, node: RedisServer): Promise<number> {
  const info = String(await ask(node, 'INFO', 'replication'))
  const [, sent] = /master_repl_offset:(\d+)/.exec(info) ?? []
  const [, received] = /^slave0:.*state=online,offset=(\d+)/m.exec(info) ?? []
  return Number(sent) - Number(received)
}

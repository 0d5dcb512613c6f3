import { expect } from 'chai'
import { clusterIndex } from '../../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { connectKeyspaces, type RedisKeyspaces } from '../../../../src/adapters/redis/keyspaces.ts'
import { storedKey } from '../../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import { fileIndexContract } from '../../../contracts/file-index/file-index.ts'
import { type RedisCluster, startRedisCluster } from '../../../support/servers/redis-cluster.ts'
import { newKeyPrefix } from '../../../support/servers/redis-server.ts'

describe('the index in a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster
  let keyspaces: RedisKeyspaces
  before(async () => {
    cluster = await startRedisCluster()
    keyspaces = connectKeyspaces({ url: cluster.url })
    await keyspaces.ready()
  })
  after(async () => {
    await keyspaces?.close()
    await cluster.remove()
  })

  const indexOn = ({ all }: RedisKeyspaces, prefix: string, perClient: number) =>
    clusterIndex(
      all.map(({ redis, keyPrefix }) => ({ redis, keyPrefix: keyPrefix + prefix })),
      { perClient },
    )

  fileIndexContract(`${PARTITIONS} partitions per client`, async () => {
    const [here, elsewhere] = [cluster, cluster].map(({ url }) => connectKeyspaces({ url })) as [
      RedisKeyspaces,
      RedisKeyspaces,
    ]
    await Promise.all([here.ready(), elsewhere.ready()])
    const prefix = newKeyPrefix()
    return {
      index: indexOn(here, prefix, PARTITIONS),
      elsewhere: indexOn(elsewhere, prefix, PARTITIONS),
      isMerged: true,
      async close() {
        await Promise.all([here.close(), elsewhere.close()])
      },
    }
  })

  it('keeps the number of partitions that a client had first, whatever other processes are told', async () => {
    const prefix = newKeyPrefix()
    const keys = Array.from({ length: 9 }, (_, i) => storedKey(`image/png/${String(i + 1).repeat(22)}.png`))
    const recordOf = (key: (typeof keys)[0]) =>
      ({ key, originalName: 'a', mediaType: 'image/png', size: 1, sha256: '00', storedAt: 1 }) as const
    const spread = indexOn(keyspaces, prefix, PARTITIONS)
    for (const key of keys) await spread.adopt('one', recordOf(key))
    const other = indexOn(keyspaces, prefix, 1)
    for (const key of keys)
      expect((await other.find({ clientId: 'one', key })).original?.state).to.equal('stored')
    await other.adopt('two', recordOf(keys[0] as (typeof keys)[0]))
    for (const key of keys.slice(1)) await spread.adopt('two', recordOf(key))
    const names = await Promise.all(
      cluster.nodes.map((node) => cluster.ask(node, 'KEYS', `*${prefix}file:*`) as Promise<string[]>),
    )
    const tagsOf = (client: string) =>
      new Set(names.flat().flatMap((name) => (name.includes(`:${client}/`) ? [name.split('}')[0]] : [])))
    expect(tagsOf('one').size).to.be.above(3)
    expect(tagsOf('two').size).to.equal(1)
  })
})

import { expect } from 'chai'
import { firstPartition } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { clusterIndex } from '../../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { connectKeyspaces, type RedisKeyspaces } from '../../../../src/adapters/redis/keyspaces.ts'
import { newFileId, storedKey } from '../../../../src/core/files/object-key.ts'
import { PARTITIONS } from '../../../../src/core/files/partition.ts'
import { fileIndexContract, type OpenedIndex } from '../../../contracts/file-index/file-index.ts'
import { rejection } from '../../../support/rejection.ts'
import { type RedisCluster, startRedisCluster } from '../../../support/servers/redis-cluster.ts'
import { newKeyPrefix, PATIENT } from '../../../support/servers/redis-server.ts'
import { sized } from '../../../support/sized.ts'

describe('the index in a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster
  let keyspaces: RedisKeyspaces
  before(async () => {
    // The long time is for a busy machine, on which a replica would take over.
    cluster = await startRedisCluster({ isReplicated: sized(false, true), nodeTimeoutMs: 30_000 })
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
    ).index

  async function open(perClient: number): Promise<OpenedIndex> {
    const [here, elsewhere] = [cluster, cluster].map(({ url }) => connectKeyspaces({ url })) as [
      RedisKeyspaces,
      RedisKeyspaces,
    ]
    await Promise.all([here.ready(), elsewhere.ready()])
    const prefix = newKeyPrefix()
    return {
      index: indexOn(here, prefix, perClient),
      elsewhere: indexOn(elsewhere, prefix, perClient),
      ...(perClient > 1 ? { isMerged: true } : {}),
      async close() {
        await Promise.all([here.close(), elsewhere.close()])
      },
    }
  }

  // 64 is no multiple of seven.
  for (const perClient of sized([PARTITIONS], [1, 7, PARTITIONS]))
    fileIndexContract(
      `${perClient} partitions per client`,
      () => open(perClient),
      // In `npm test`, moves.test.ts makes random steps on partitions, and the index in one Redis is tried with each step in each state.
      { steps: sized(0, 800), hasStates: sized(false, true) },
    )

  it('removes the index of an older version, and of deleted files, in each partition', async () => {
    const prefix = newKeyPrefix()
    const spread = indexOn(keyspaces, prefix, PARTITIONS)
    const keys = Array.from({ length: 9 }, (_, i) => storedKey(`image/png/${String(i + 1).repeat(22)}.png`))
    const file = { originalName: 'a.png', mediaType: 'image/png', size: 1, sha256: '00', storedAt: 1 }
    for (const key of keys) await spread.adopt('one', { ...file, key })
    const perSlot = keyspaces.all.map(({ redis, keyPrefix }) => ({ redis, start: keyPrefix + prefix }))
    for (const { redis, start } of perSlot) await redis.client.zadd(`${start}terms:one/`, 0, 'term')
    await spread.removeFormer(new AbortController().signal)
    expect(await spread.search('one', { name: 'a.png' }, { most: 9 })).to.have.length(9)
    for (const key of keys) {
      await spread.beginRemoval({ clientId: 'one', key }, { cause: 'delete', leaseUntil: 2, now: 1 })
      await spread.finishRemoval({ clientId: 'one', key }, 1)
    }
    await spread.tidy({ most: 9999 })
    const left = await Promise.all(
      perSlot.map(async ({ redis, start }) =>
        (await redis.client.keys(`${start}*`)).map((key) => key.slice(start.length)),
      ),
    )
    expect([...new Set(left.flat().filter((name) => !name.startsWith('partitions:')))].sort()).to.deep.equal([
      'changes',
      'data',
      'layout',
      'unsettled',
    ])
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
      cluster.nodes.map((node) => cluster.ask(node, 'KEYS', `*${prefix}2:f:*`) as Promise<string[]>),
    )
    const tagsOf = (client: string) =>
      new Set(names.flat().flatMap((name) => (name.includes(`:${client}/`) ? [name.split('}')[0]] : [])))
    expect(tagsOf('one').size).to.be.above(3)
    expect(tagsOf('two').size).to.equal(1)
  })

  it('has all keys of a folder whose files have ids of one partition, as those of a form', async () => {
    const index = indexOn(keyspaces, newKeyPrefix(), PARTITIONS)
    const ids = [newFileId()]
    while (ids.length < 60) ids.push(newFileId(ids[0]))
    const keys = ids.map((id) => storedKey(`form/image/png/${id}.png`))
    await Promise.all(
      keys.map((key) =>
        index.adopt('one', {
          key,
          originalName: 'a',
          mediaType: 'image/png',
          size: 1,
          sha256: '00',
          storedAt: 1,
        }),
      ),
    )
    const found = await index.directKeys('one', { state: 'stored', folder: 'form', limit: 50 })
    expect(found).to.deep.equal([...keys].sort().slice(0, 50))
  })

  it('rejects, and has no empty list, in a process that cannot read the number of partitions', async () => {
    const prefix = newKeyPrefix()
    const clientId = Array.from({ length: 100 }, (_, i) => `client-${i}`).find(
      (id) => firstPartition(id) < 20,
    ) as string
    await indexOn(keyspaces, prefix, PARTITIONS).totals(clientId)
    // Another process, which does not know the number, and does not wait as long as this suite.
    const others = connectKeyspaces({ url: cluster.url.replace(PATIENT, '') })
    await others.ready()
    const cold = indexOn(others, prefix, PARTITIONS)
    const [node] = cluster.nodes
    node?.freeze()
    try {
      const key = storedKey(`image/png/${newFileId()}.png`)
      for (const asked of [
        cold.page(clientId, { state: 'stored', by: 'key', limit: 5 }),
        cold.totals(clientId),
        cold.isComplete(clientId),
        cold.find({ clientId, key }),
      ])
        expect(await rejection(asked)).to.include({ status: 503 })
    } finally {
      node?.thaw()
      await others.close()
      await cluster.settled()
    }
  })
})

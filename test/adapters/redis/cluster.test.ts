import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { redisFileChanges } from '../../../src/adapters/file-changes/redis.ts'
import { hashPrefix } from '../../../src/adapters/file-index/redis/keys.ts'
import { connectKeyspaces, type RedisKeyspaces, tagOf } from '../../../src/adapters/redis/keyspaces.ts'
import { PARTITIONS } from '../../../src/core/files/partition.ts'
import { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { freePort } from '../../support/servers/free-port.ts'
import { type RedisCluster, startRedisCluster } from '../../support/servers/redis-cluster.ts'
import type { RedisServer } from '../../support/servers/redis-server.ts'
import { PROJECT, recordLog } from '../../support/service.ts'
import { itLong } from '../../support/sized.ts'

describe('the keyspaces of a Redis Cluster of three nodes', () => {
  let cluster: RedisCluster
  let keyspaces: RedisKeyspaces
  before(async () => {
    cluster = await startRedisCluster({ fails: true })
    keyspaces = connectKeyspaces({ url: cluster.url })
    await keyspaces.ready()
  })
  after(async () => {
    await keyspaces?.close()
    await cluster.remove()
  })
  const nodeOf = ({ redis }: RedisKeyspaces['all'][0]) => redis.send((client) => client.cluster('MYID'))

  it('are divided equally, and locks, jobs and limits are on different nodes', async () => {
    const nodes = await Promise.all(keyspaces.all.map(nodeOf))
    expect(new Set(nodes).size).to.equal(3)
    for (const node of new Set(nodes))
      expect(nodes.filter((one) => one === node).length, String(node)).to.be.within(21, 22)
    const subjects = await Promise.all(
      (['jobs', 'locks', 'limits'] as const).map((subject) => nodeOf(keyspaces.of(subject))),
    )
    expect(new Set(subjects).size).to.equal(3)
  })

  it('have slots in the order of their numbers, as Redis computes them', async () => {
    for (const number of [0, 1, 31, 63]) {
      const slot = await keyspaces.all[0].redis.send((client) =>
        client.cluster('KEYSLOT', `{${tagOf(number)}}:x`),
      )
      expect(Math.floor(Number(slot) / (16_384 / PARTITIONS))).to.equal(number)
    }
  })

  it('are followed when a slot has moved: the next command is repeated on its new node', async () => {
    const { redis, keyPrefix } = keyspaces.all[0]
    await redis.send((client) => client.set(`${keyPrefix}x`, 'stored'))
    const [from, to] = cluster.nodes as [RedisServer, RedisServer]
    await cluster.move({ from, to, slots: 256 })
    expect(await redis.send((client) => client.get(`${keyPrefix}x`))).to.equal('stored')
    expect(await nodeOf(keyspaces.all[0])).to.equal(String(await cluster.ask(to, 'CLUSTER', 'MYID')))
  })

  it('report changes of files again when a slot has moved', async () => {
    const changes = redisFileChanges(keyspaces.all, { log: recordLog() })
    const seen = new Set<string>()
    changes.listen({ changed: ({ id }) => void seen.add(id), missed: () => {} })
    const isKnown = () => expect(changes.knownUntil()).to.be.above(performance.now())
    const change = async (name: string) => {
      const { redis, keyPrefix } = keyspaces.all[22] as RedisKeyspaces['all'][0]
      await redis.send((client) => client.hset(`${hashPrefix(keyPrefix)}first/${name}`, '', 'x'))
    }
    try {
      await eventually(isKnown)
      await change('before')
      await eventually(() => expect(seen).to.include('before'))
      const [, from, to] = cluster.nodes as [RedisServer, RedisServer, RedisServer]
      await cluster.move({ from, to, slots: 400 })
      await eventually(async () => {
        await change('after')
        expect(seen).to.include('after')
      })
      await eventually(isKnown)
    } finally {
      await changes.close()
    }
  })

  it('fail for at most ten seconds after the loss of a node, with the documented cluster-node-timeout', async () => {
    const page = await readFile(join(PROJECT, 'docs', 'how-to', 'redis-cluster.md'), 'utf8')
    const nodeTimeoutMs = Number(/^cluster-node-timeout (\d+)$/m.exec(page)?.[1])
    const { commandTimeout = 0, retryStrategy } = keyspaces.all[0].redis.client.options
    const retries = Array.from({ length: 100 }, (_, i) => Number(retryStrategy?.(i + 1)))
    // The replica takes over after about twice the first time. Then the lost connection is noticed, and the next one is tried.
    expect(2 * nodeTimeoutMs + commandTimeout + Math.max(...retries)).to.be.within(1000, 10_000)
  })

  itLong('are reported once when they cannot be reached, not by each connection', async () => {
    const log = recordLog()
    const port = await freePort()
    const none = connectKeyspaces({ url: `redis+cluster://127.0.0.1:${port}`, log })
    try {
      const error = await rejection(none.ready())
      expect(error).to.be.instanceOf(Problem)
      expect(String((error as Error).cause)).to.include(`127.0.0.1:${port}`)
      await eventually(() => expect(log.lines.length).to.be.above(0))
      expect(log.lines.filter(({ message }) => message === 'Redis cannot be reached')).to.have.length(1)
    } finally {
      await none.close()
    }
  })

  it('are connected to again while a node says that the cluster is down: others may have replaced it', async () => {
    const { redis, keyPrefix } = keyspaces.all[63] as RedisKeyspaces['all'][0]
    let closed = 0
    redis.client.on('close', () => {
      closed += 1
    })
    const answer = async () =>
      redis.send((client) => client.get(`${keyPrefix}x`)).then(String, (error) => String(error.cause))
    // Soon after it has stopped, the others refuse commands.
    for (const node of cluster.nodes) await cluster.ask(node, 'CONFIG', 'SET', 'cluster-node-timeout', 1000)
    await cluster.nodes[0]?.stop()
    await eventually(async () => {
      expect(await answer()).to.include('CLUSTERDOWN')
      expect(closed).to.be.above(0)
    })
  })
})

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import slotOf from 'cluster-key-slot'
import { Redis } from 'ioredis'
import { tagOf } from '../../../src/adapters/redis/keyspaces.ts'
import { eventually } from '../eventually.ts'
import type { LocalCertificate } from './certificate.ts'
import { freePort } from './free-port.ts'
import { type AnyRedis, PATIENT, type RedisServer, startRedis } from './redis-server.ts'

/** A Redis Cluster of this run alone. */
export interface RedisCluster {
  /** As `REDIS_URL` has it: two of the nodes. */
  readonly url: string
  /** The primaries at the start, in the order of their slots; then a replica of each, if there are replicas. */
  readonly nodes: readonly RedisServer[]
  /** The number of the primary that has a keyspace at the start, from 0 to {@link PRIMARIES} (exclusive). */
  primaryOf(keyspace: number): number
  /** Asks a node. */
  ask(node: RedisServer, ...command: [string, ...Array<string | number>]): Promise<unknown>
  /** Moves slots with their keys, the first ones of a node, while the cluster works. */
  move(options: { from: RedisServer; to: RedisServer; slots: number }): Promise<void>
  /** Resolves when all nodes agree that all slots are served. */
  settled(): Promise<void>
  /** Resolves when all nodes except for a lost one agree that others serve all slots. */
  replaced(lost: RedisServer): Promise<void>
  remove(): Promise<void>
}

const SLOTS = 16_384
/** The number of primaries. */
export const PRIMARIES = 3

/**
 * Starts three primaries. A replica takes over about two seconds after its primary has stopped.
 *
 * @param options.nodeTimeoutMs `cluster-node-timeout`. By default, a node without replicas does not count as failed when it waits for the
 *   CPU on a busy machine
 * @param options.fails see {@link RedisServerOptions}. Default: whether it has replicas
 * @param options.appendOnly see {@link RedisServerOptions}
 * @param options.tls speaks only TLS; then {@link RedisCluster.move} does not work
 */
export async function startRedisCluster({
  isReplicated = false,
  fails = isReplicated,
  nodeTimeoutMs = isReplicated ? 1000 : 30_000,
  appendOnly = false,
  tls,
}: {
  isReplicated?: boolean
  fails?: boolean
  nodeTimeoutMs?: number
  appendOnly?: boolean
  tls?: LocalCertificate
} = {}): Promise<RedisCluster> {
  const start = async () => {
    const bus = await freePort()
    const server = await startRedis({
      fails,
      appendOnly,
      tls,
      options: [
        ...(tls ? ['--tls-cluster', 'yes'] : []),
        ...[
          '--cluster-enabled',
          'yes',
          '--cluster-port',
          `${bus}`,
          '--cluster-node-timeout',
          `${nodeTimeoutMs}`,
        ],
        ...['--repl-diskless-sync-delay', '0', '--cluster-replica-validity-factor', '0'],
      ],
    })
    const client = new Redis(server.port, {
      ...{ host: '127.0.0.1', lazyConnect: true, replyMapping: 'legacy' },
      ...(tls ? { tls: { ca: tls.ca } } : {}),
    })
    return { server, bus, client }
  }
  const started = await Promise.all(Array.from({ length: isReplicated ? 2 * PRIMARIES : PRIMARIES }, start))
  const nodes = started.map(({ server }) => server)
  const clients = new Map(started.map(({ server, client }) => [server, client]))
  for (const { client } of started) client.on('error', () => {})
  const ask: RedisCluster['ask'] = (node, name, ...more) =>
    (clients.get(node) as Redis).call(name, ...more.map(String))
  const [first] = started as [(typeof started)[0]]
  const width = Math.ceil(SLOTS / PRIMARIES)
  for (const [i, { server, bus }] of started.entries()) {
    if (i > 0) await ask(first.server, 'CLUSTER', 'MEET', '127.0.0.1', server.port, bus)
    if (i < PRIMARIES)
      await ask(server, 'CLUSTER', 'ADDSLOTSRANGE', i * width, Math.min(SLOTS, (i + 1) * width) - 1)
  }
  const cluster: RedisCluster = {
    url: `${tls ? 'rediss' : 'redis'}+cluster://127.0.0.1:${nodes.at(-1)?.port},127.0.0.1:${first.server.port}${fails ? '' : PATIENT}`,
    nodes,
    primaryOf: (keyspace) => Math.floor(slotOf(tagOf(keyspace)) / width),
    ask,
    async move({ from, to, slots }) {
      const [one, other] = [await ask(from, 'CLUSTER', 'MYID'), await ask(to, 'CLUSTER', 'MYID')].map(String)
      await promisify(execFile)('redis-cli', [
        ...['--cluster', 'reshard', `127.0.0.1:${to.port}`, '--cluster-yes', '--cluster-slots', `${slots}`],
        ...['--cluster-from', one as string, '--cluster-to', other as string],
      ])
    },
    async settled() {
      await eventually(async () => {
        for (const node of nodes) {
          const info = String(await ask(node, 'CLUSTER', 'INFO'))
          if (!info.includes('cluster_state:ok') || !info.includes(`cluster_known_nodes:${nodes.length}`))
            throw new Error(info)
        }
      })
    },
    async replaced(lost) {
      await eventually(async () => {
        for (const node of nodes.filter((one) => one !== lost)) {
          const slots = (await ask(node, 'CLUSTER', 'SLOTS')) as Array<[number, number, [string, number]]>
          const isServed = String(await ask(node, 'CLUSTER', 'INFO')).includes('cluster_state:ok')
          if (!isServed || slots.some(([, , [, port]]) => port === lost.port))
            throw new Error('the node has not been replaced yet')
        }
      })
    },
    async remove() {
      for (const { client } of started) client.disconnect()
      await Promise.all(nodes.map((node) => node.remove()))
    },
  }
  try {
    await cluster.settled()
    for (const [i, replica] of nodes.slice(PRIMARIES).entries()) {
      const id = String(await ask(nodes[i] as RedisServer, 'CLUSTER', 'MYID'))
      await eventually(() => ask(replica, 'CLUSTER', 'REPLICATE', id))
      await eventually(async () => {
        if (!String(await ask(replica, 'INFO', 'replication')).includes('master_link_status:up'))
          throw new Error('the replica has no data yet')
      })
    }
    await cluster.settled()
  } catch (error) {
    await cluster.remove()
    throw error
  }
  return cluster
}

/** Starts a cluster without replicas whose nodes fail together. */
export async function startFailingCluster(options: { appendOnly?: boolean } = {}): Promise<AnyRedis> {
  const { url, nodes, settled, remove } = await startRedisCluster({ ...options, fails: true })
  return {
    url,
    freeze() {
      for (const node of nodes) node.freeze()
    },
    thaw() {
      for (const node of nodes) node.thaw()
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()))
    },
    async start() {
      await Promise.all(nodes.map((node) => node.start()))
      await settled()
    },
    remove,
  }
}

import { randomUUID } from 'node:crypto'
import { redisDivisions } from '../../../../src/adapters/file-index/partitioned/divisions.ts'
import type { Move } from '../../../../src/adapters/file-index/partitioned/partitions.ts'
import { clusterIndex } from '../../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { connectKeyspaces, type RedisKeyspace } from '../../../../src/adapters/redis/keyspaces.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import type { PartitionCount } from '../../../../src/core/ports/index/partitioning.ts'
import { type RedisCluster, startRedisCluster } from '../../../support/servers/redis-cluster.ts'
import { newKeyPrefix } from '../../../support/servers/redis-server.ts'

/** The notice is longer than the trust, as in service. */
export const TIMES = { trustMs: 1, noticeMs: 5, pauseMs: 1 }

/** The index of a cluster of its own, as several processes see it. */
export interface MovingIndex {
  cluster: RedisCluster
  /** With a key prefix of this index. */
  keyspaces: readonly RedisKeyspace[]
  /** The same index in another process. */
  process(): ReturnType<typeof clusterIndex>
  /** Stores a move, and waits until it begins. No file is moved by it. */
  begin(clientId: string, to: PartitionCount): Promise<Move>
  /** Moves all files of a client. */
  move(clientId: string, to: PartitionCount): Promise<void>
}

/** Opens a cluster before the tests of a suite, and a new index in it before each of them. */
export function movingIndexes(): () => MovingIndex {
  let cluster: RedisCluster
  let connected: ReturnType<typeof connectKeyspaces>
  let opened: MovingIndex
  before(async () => {
    cluster = await startRedisCluster()
    connected = connectKeyspaces({ url: cluster.url })
    await connected.ready()
  })
  after(async () => {
    await connected?.close()
    await cluster.remove()
  })
  beforeEach(() => {
    const prefix = newKeyPrefix()
    const keyspaces = connected.all.map(({ redis, keyPrefix }) => ({ redis, keyPrefix: keyPrefix + prefix }))
    const process = () => clusterIndex(keyspaces, { perClient: 1, times: TIMES })
    const divisions = redisDivisions(keyspaces, { perClient: 1, times: TIMES })
    opened = {
      cluster,
      keyspaces,
      process,
      async begin(clientId, to) {
        const { division } = await divisions.read(clientId)
        const move = { from: Number(division), to, id: randomUUID() }
        if (!(await divisions.begin(clientId, move))) throw new Error(`${clientId} has another division`)
        while ((await divisions.read(clientId)).remainingMs > 0);
        return move
      },
      async move(clientId, to) {
        await process().partitioning.move(clientId, to, {
          signal: new AbortController().signal,
          async progress() {},
        })
      },
    }
  })
  return () => opened
}

/** All that a keyspace has, except for the search, whose keys may depend on the order of the files. */
export async function contentOf({ redis, keyPrefix }: RedisKeyspace): Promise<Record<string, unknown>> {
  const content: Record<string, unknown> = {}
  const names = await redis.send((client) => client.keys(`${keyPrefix.replace(/[{}]/g, '\\$&')}*`))
  for (const name of names.sort()) {
    const short = name.slice(keyPrefix.length)
    if (!/^(file|list|totals|uses|derived|folders|subfolders|unsettled|changes)\b/.test(short)) continue
    content[short] = await redis.send(async (client) =>
      (await client.type(name)) === 'hash'
        ? Object.entries(await client.hgetall(name)).sort()
        : client.zrange(name, '0', '-1', 'WITHSCORES'),
    )
  }
  return content
}

/** All keys of a list in one state, page by page. */
export async function keysOf(index: FileIndex, clientId: string, { limit = 7, by = 'key' as const } = {}) {
  const keys: string[] = []
  for (let after: string | undefined; ; ) {
    const page = await index.page(clientId, {
      ...{ state: 'stored', by, limit },
      ...(after === undefined ? {} : { after }),
    })
    keys.push(...page.files.map(({ record }) => record.key))
    if (page.next === undefined) return keys
    after = page.next
  }
}

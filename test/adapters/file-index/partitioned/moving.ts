import { setImmediate as turn } from 'node:timers/promises'
import type { Division } from '../../../../src/adapters/file-index/partitioned/division.ts'
import { redisDivisions } from '../../../../src/adapters/file-index/partitioned/divisions.ts'
import { movesNoted } from '../../../../src/adapters/file-index/partitioned/moves-noted.ts'
import type { PartitionedOptions } from '../../../../src/adapters/file-index/partitioned/partitioned.ts'
import { clusterIndex } from '../../../../src/adapters/file-index/partitioned/redis-cluster.ts'
import { packedInstant } from '../../../../src/adapters/file-index/redis/entries/packed.ts'
import { keyNames, prefixOf } from '../../../../src/adapters/file-index/redis/keys.ts'
import { KEY_FIELD } from '../../../../src/adapters/file-index/redis/lists/lua.ts'
import { withoutId } from '../../../../src/adapters/file-index/redis/lists/places.ts'
import { NUMBER_FIELD } from '../../../../src/adapters/file-index/redis/search/lua.ts'
import { readMembers } from '../../../../src/adapters/file-index/redis/tree/read.ts'
import {
  connectKeyspaces,
  type RedisKeyspace,
  type RedisKeyspaces,
} from '../../../../src/adapters/redis/keyspaces.ts'
import type { FileRef } from '../../../../src/core/files/file-ref.ts'
import type { FileIndex } from '../../../../src/core/ports/file-index.ts'
import type { MoveOptions, PartitionCount } from '../../../../src/core/ports/index/partitioning.ts'
import type { seededRandom } from '../../../contracts/random.ts'
import { type RedisCluster, startRedisCluster } from '../../../support/servers/redis-cluster.ts'
import { newKeyPrefix } from '../../../support/servers/redis-server.ts'

export const TIMES = { trustMs: 1000, durableMs: 1, patienceMs: 10_000, retryMs: 1 }

// Each has its own connections.
const PROCESSES = 3

/** The index of a cluster of its own, as several processes see it. */
export interface MovingIndex {
  cluster: RedisCluster
  /** With a key prefix of this index. */
  keyspaces: readonly RedisKeyspace[]
  /**
   * The same index in another process, with connections of its own and its own knowledge of the divisions.
   * @param options.late delays a part of its commands by some turns of the event loop
   */
  process(options?: { late?: ReturnType<typeof seededRandom> }): ReturnType<typeof clusterIndex>
  /** The division of a client as it is stored. */
  divisions: Pick<ReturnType<typeof redisDivisions>, 'read' | 'change'>
  /** Stores a move. No file is moved by it. */
  begin(clientId: string, to: PartitionCount): Promise<Division>
  /** Moves all files of a client. */
  move(clientId: string, to: PartitionCount): Promise<void>
}

/** The options of an index whose clients have this number of partitions and never move. */
export function neverMoving(all: readonly FileIndex[], count: number): PartitionedOptions {
  const division = async () => ({ from: count, to: count, epoch: 0 })
  return {
    division,
    currentDivision: division,
    epochIn: async () => 0,
    fenced: (number) => all[number] as FileIndex,
    async pull() {},
    dropStray: async () => false,
    async removeFormer() {},
    async *list(clientId) {
      for (const index of all) yield* index.list(clientId)
    },
  }
}

/** The options of a move. */
export function moveOptions(more: Partial<MoveOptions> = {}): MoveOptions {
  return { signal: new AbortController().signal, async progress() {}, mayEnd: async () => true, ...more }
}

/** Opens a cluster before the tests of a suite, and a new index in it before each of them. */
export function movingIndexes(): () => MovingIndex {
  let cluster: RedisCluster
  let connected: RedisKeyspaces[]
  let opened: MovingIndex
  before(async () => {
    cluster = await startRedisCluster()
    connected = Array.from({ length: PROCESSES }, () => connectKeyspaces({ url: cluster.url }))
    for (const one of connected) await one.ready()
  })
  after(async () => {
    for (const one of connected ?? []) await one.close()
    await cluster.remove()
  })
  beforeEach(() => {
    const prefix = newKeyPrefix()
    const keyspacesOf = ({ all }: RedisKeyspaces) =>
      all.map(({ redis, keyPrefix }) => ({ redis, keyPrefix: keyPrefix + prefix }))
    const keyspaces = keyspacesOf(connected[0] as RedisKeyspaces)
    let processes = 0
    const process: MovingIndex['process'] = ({ late } = {}) => {
      const own = keyspacesOf(connected[processes++ % PROCESSES] as RedisKeyspaces)
      return clusterIndex(late ? own.map((one) => delayed(one, late)) : own, { perClient: 1, times: TIMES })
    }
    const divisions = redisDivisions(keyspaces, { perClient: 1, trustMs: 0 })
    opened = {
      cluster,
      keyspaces,
      process,
      divisions,
      async begin(clientId, to) {
        const before = await divisions.read(clientId)
        const move = { ...before, to, epoch: before.epoch + 1 }
        await movesNoted(keyspaces).note(clientId, move)
        if (!(await divisions.change(clientId, before, move))) throw new Error('it has another division')
        return move
      },
      async move(clientId, to) {
        await process().partitioning.move(clientId, to, moveOptions())
      },
    }
  })
  return () => opened
}

function delayed(
  { redis, keyPrefix }: RedisKeyspace,
  random: ReturnType<typeof seededRandom>,
): RedisKeyspace {
  return {
    keyPrefix,
    redis: {
      ...redis,
      async send(command) {
        for (let turns = random.below(4) > 0 ? 0 : random.below(60); turns > 0; turns -= 1) await turn()
        return redis.send(command)
      },
    },
  }
}

/**
 * All that a keyspace has, with the members of each list, except for the search, whose keys may depend on the order of the files, as the
 * leaves of lists do.
 */
export async function contentOf({ redis, keyPrefix }: RedisKeyspace): Promise<Record<string, unknown>> {
  const content: Record<string, unknown> = {}
  const prefix = prefixOf(keyPrefix)
  const names = await redis.send((client) => client.keys(`${prefix.replace(/[{}]/g, '\\$&')}*`))
  for (const name of names.sort()) {
    const short = name.slice(prefix.length)
    const [, list] = /^((?:list|uses):.*):(?:leaves|long)$/.exec(short) ?? []
    if (list) {
      const members = await readMembers(redis, prefix + list, { limit: 10_000 })
      content[list] = members.map((member) => member.toString('hex'))
    }
    if (!/^(f|totals|derived|folders|subfolders|unsettled|changes)\b/.test(short)) continue
    content[short] = await redis.send(async (client) => {
      const type = await client.type(name)
      if (type === 'string') return client.get(name)
      if (type === 'zset') return client.zrange(name, '0', '-1', 'WITHSCORES')
      const hash = Object.entries(await client.hgetallBuffer(name))
      return hash
        .filter(([field]) => field !== NUMBER_FIELD)
        .map(([field, value]) => [field, value.toString('latin1')])
        .sort()
    })
  }
  return content
}

/** Adds a pending original to a keyspace, as a node has it that brings back an old copy. */
export async function bringBack(
  { redis, keyPrefix }: RedisKeyspace,
  ref: FileRef,
  leaseUntil: number,
): Promise<void> {
  const { hashesOf, nameOf, unsettled } = keyNames(keyPrefix)
  const packed = Buffer.concat([Buffer.from('p'), packedInstant(leaseUntil)])
  const entry = { '': packed, [KEY_FIELD]: withoutId(ref.key) }
  await redis.send((client) =>
    Promise.all([client.hset(hashesOf(ref)[0], entry), client.zadd(unsettled, leaseUntil, nameOf(ref))]),
  )
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

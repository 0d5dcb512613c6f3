import slotOf from 'cluster-key-slot'
import { PARTITIONS } from '../../core/files/partition.ts'
import type { Log } from '../../core/log.ts'
import { parseRedisUrl, type RedisNode } from '../../core/net/redis-url.ts'
import type { RedisAddress } from './address.ts'
import { clusterView } from './cluster-view.ts'
import { connectRedis, queryOptions, type RedisConnection } from './connection.ts'

/** Keys that one script may use: those of one slot of a Redis Cluster, or of a single Redis. */
export interface RedisKeyspace {
  /** It is open until {@link RedisKeyspaces.close}. */
  redis: RedisConnection
  /** The beginning of all these keys, with a hash tag: `{sluice}:`. */
  keyPrefix: string
}

/** All keyspaces of an installation. */
export interface RedisKeyspaces {
  /** One, or {@link PARTITIONS} in a Redis Cluster. Each has one partition of the index. */
  all: readonly [RedisKeyspace, ...RedisKeyspace[]]
  /** The keyspace of a subject. */
  of(subject: RedisSubject): RedisKeyspace
  /** Resolves when commands can be sent. @throws Problem 503 when a connection takes too long */
  ready(): Promise<void>
  close(): Promise<void>
}

/** The number of the keyspace of each subject in a cluster, so that few are on one node. They must never change. */
const SUBJECTS = {
  jobs: 5,
  deliveries: 10,
  audit: 16,
  usage: 26,
  changes: 32,
  locks: 37,
  ledger: 48,
  limits: 58,
}

/** What has keys in Redis, apart from the index. */
export type RedisSubject = keyof typeof SUBJECTS

const SLOTS = 16_384
const LOG_EVERY_MS = 1000

/** Connects to all keyspaces, and reconnects after every loss. @throws Error for an invalid URL */
export function connectKeyspaces({ log, ...address }: RedisAddress & { log?: Log }): RedisKeyspaces {
  const parsed = parseRedisUrl(address.url)
  const all: [RedisKeyspace, ...RedisKeyspace[]] = parsed?.isCluster
    ? clusterKeyspaces(parsed.nodes, { ...address, ...(log ? { log: throttled(log) } : {}) })
    : [{ redis: connectRedis({ ...address, ...(log ? { log } : {}) }), keyPrefix: '{sluice}:' }]
  return {
    all,
    of: (subject) => all[SUBJECTS[subject]] ?? all[0],
    async ready() {
      await Promise.all(all.map(({ redis }) => redis.ready()))
    },
    async close() {
      await Promise.all(all.map(({ redis }) => redis.close()))
    },
  }
}

function clusterKeyspaces(
  nodes: readonly RedisNode[],
  address: RedisAddress & { log?: Log },
): [RedisKeyspace, ...RedisKeyspace[]] {
  const cluster = clusterView(nodes, queryOptions(address))
  const keyspace = (number: number): RedisKeyspace => {
    const tag = tagOf(number)
    const redis = connectRedis({ ...address, clusterSlot: { cluster, slot: slotOf(tag) } })
    return { redis, keyPrefix: `{${tag}}:` }
  }
  return [keyspace(0), ...Array.from({ length: PARTITIONS - 1 }, (_, i) => keyspace(i + 1))]
}

/**
 * The hash tag of a keyspace in a cluster: `sluice:17:20`. Keyspace 17 has a slot in the 17th (from 0) of {@link PARTITIONS} equal
 * parts of all slots. So primaries with equally many slots have equally many keyspaces.
 */
export function tagOf(number: number): string {
  const width = SLOTS / PARTITIONS
  for (let suffix = 0; ; suffix += 1) {
    const tag = `sluice:${number}:${suffix.toString(36)}`
    if (Math.floor(slotOf(tag) / width) === number) return tag
  }
}

/** Writes each info and warning at most once per second: many connections lose their node at the same time. */
function throttled(log: Log): Log {
  const loggedAt = new Map<string, number>()
  const atMostOnce =
    (write: Log['warn']): Log['warn'] =>
    (fields, message) => {
      const now = performance.now()
      if (now - (loggedAt.get(message) ?? Number.NEGATIVE_INFINITY) < LOG_EVERY_MS) return
      loggedAt.set(message, now)
      write(fields, message)
    }
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: atMostOnce((fields, message) => log.info(fields, message)),
    warn: atMostOnce((fields, message) => log.warn(fields, message)),
    error: (fields, message) => log.error(fields, message),
  }
}

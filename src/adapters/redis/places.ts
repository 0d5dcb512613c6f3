import slotOf from 'cluster-key-slot'
import type { Log } from '../../core/log.ts'
import { parseRedisUrl } from '../../core/net/redis-url.ts'
import { clusterView } from './cluster-view.ts'
import { askOptions, connectRedis, type RedisAddress, type RedisConnection } from './connection.ts'

/** Where keys are stored that one script may touch: one slot of a Redis Cluster, or a single Redis. */
export interface RedisPlace {
  /** It is open until {@link RedisPlaces.close}. */
  redis: RedisConnection
  /** The beginning of all keys there, with a hash tag: `{sluice}:`. */
  keyPrefix: string
}

/** All places of an installation. */
export interface RedisPlaces {
  /** One, or {@link PLACES} in a Redis Cluster. Each has a part of the index. */
  all: readonly [RedisPlace, ...RedisPlace[]]
  /** The place of the keys of a subject. */
  of(subject: RedisSubject): RedisPlace
  /** Resolves when commands can be sent. @throws Problem 503 when a connection takes too long */
  ready(): Promise<void>
  close(): Promise<void>
}

/**
 * The number of places in a Redis Cluster, and so of nodes that can share the work. It must never change: it decides where keys
 * are.
 */
export const PLACES = 64

/** The places of subjects: far from each other, so that they are on different nodes. They must never change. */
const SUBJECTS = {
  ...{ jobs: 5, locks: 37, limits: 58 },
  ...{ audit: 16, usage: 26, ledger: 48, deliveries: 10, changes: 32 },
} as const

export type RedisSubject = keyof typeof SUBJECTS

const SLOTS = 16_384
const TOLD_EVERY_MS = 1000

/** Connects to all places, and reconnects after every loss. @throws Error for an invalid URL */
export function connectPlaces({ log, ...address }: RedisAddress & { log?: Log }): RedisPlaces {
  const parsed = parseRedisUrl(address.url)
  const all: [RedisPlace, ...RedisPlace[]] = parsed?.isCluster
    ? placesOf(parsed.nodes, address, log)
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

function placesOf(
  nodes: Parameters<typeof clusterView>[0],
  address: RedisAddress,
  log: Log | undefined,
): [RedisPlace, ...RedisPlace[]] {
  const cluster = clusterView(nodes, askOptions(address))
  const once = log && oncePerOutage(log)
  const place = (number: number): RedisPlace => {
    const tag = tagOf(number)
    const redis = connectRedis({
      ...address,
      ...(once ? { log: once } : {}),
      place: { cluster, slot: slotOf(`{${tag}}`) },
    })
    return { redis, keyPrefix: `{${tag}}:` }
  }
  return [place(0), ...Array.from({ length: PLACES - 1 }, (_, i) => place(i + 1))]
}

/**
 * The hash tag of a place in a cluster. Its slot lies in the same 64th of all slots as the place among all places, so that the
 * nodes of a cluster have equally many places, however many nodes there are.
 */
export function tagOf(number: number): string {
  const width = SLOTS / PLACES
  for (let suffix = 0; ; suffix += 1) {
    const tag = `sluice:${number}:${suffix.toString(36)}`
    if (Math.floor(slotOf(tag) / width) === number) return tag
  }
}

/** Many connections lose their node at the same time, and say so once. */
function oncePerOutage(log: Log): Log {
  const toldAt = new Map<string, number>()
  const tell =
    (write: Log['warn']): Log['warn'] =>
    (fields, message) => {
      const now = performance.now()
      if (now - (toldAt.get(message) ?? Number.NEGATIVE_INFINITY) < TOLD_EVERY_MS) return
      toldAt.set(message, now)
      write(fields, message)
    }
  return {
    debug: (fields, message) => log.debug(fields, message),
    info: tell((fields, message) => log.info(fields, message)),
    warn: tell((fields, message) => log.warn(fields, message)),
    error: (fields, message) => log.error(fields, message),
  }
}

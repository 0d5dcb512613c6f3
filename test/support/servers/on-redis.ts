import type { Redis } from 'ioredis'
import { hashPrefix, prefixOf } from '../../../src/adapters/file-index/redis/keys.ts'
import { KEY_FIELD } from '../../../src/adapters/file-index/redis/lists/lua.ts'
import { keyAt } from '../../../src/adapters/file-index/redis/lists/originals.ts'
import { placeNamed } from '../../../src/adapters/file-index/redis/lists/places.ts'
import { indexedFile, parseName } from '../../../src/adapters/file-index/redis/names.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import {
  connectKeyspaces,
  type RedisKeyspace,
  type RedisKeyspaces,
} from '../../../src/adapters/redis/keyspaces.ts'
import { sharedRedis, withDatabase } from './redis-server.ts'

// What services store in a Redis or in a Redis Cluster: all functions with a URL read each keyspace.

/** The environment of a service on this database of the shared Redis. */
export async function redisEnv(database: number): Promise<Record<string, string>> {
  return envOn(await redisUrl(database))
}

/** The environment of a service on the Redis, or the Redis Cluster, with this URL. */
export function envOn(url: string): Record<string, string> {
  return {
    REDIS_URL: url,
    CLIENT_TOKEN: 'pub_of_all_processes',
    SECRET_CLIENT_TOKEN: 'sec_of_all_processes',
    APP_SECRET: 'the-app-secret-of-all-processes-of-the-tests',
  }
}

/** The URL of this database of the shared Redis. */
export async function redisUrl(database: number): Promise<string> {
  return withDatabase((await sharedRedis()).url, database)
}

/** The index's rows, as those of an embedded one: without the search. */
export function rowsIn(url: string): Promise<string[]> {
  return inKeyspaces(url, async ({ all }) => (await Promise.all(all.map(rowsOf))).flat().sort())
}

async function rowsOf({ redis: { client }, keyPrefix }: RedisKeyspace): Promise<string[]> {
  const files = hashPrefix(keyPrefix)
  const unsettled = await client.zrange(`${prefixOf(keyPrefix)}unsettled`, '0', '-1')
  const rows = unsettled.map((name) => `u ${name}`)
  for (const file of await client.keys(`${files}*`)) {
    const { clientId, end } = parseName(file.slice(files.length))
    const hash = await client.hgetallBuffer(file)
    const key = keyAt(placeNamed(end), hash[KEY_FIELD]?.toString())
    const found = key && indexedFile({ clientId, key }, hash)
    if (!found) continue
    rows.push(`o ${clientId} ${key} ${found.original.state}`)
    for (const { key: derivative, entry } of found.derivatives)
      rows.push(`d ${clientId} ${key} ${derivative} ${entry.state}`)
  }
  return rows
}

export function emptyRedis(url: string): Promise<unknown> {
  return inKeyspaces(url, ({ all }) => Promise.all(all.map(({ redis }) => redis.client.flushdb())))
}

/** Ends the leases of all locks at once: those of dead processes need not be waited for. */
export function endLockLeases(url: string): Promise<void> {
  return inKeyspaces(url, async (keyspaces) => {
    const { redis, keyPrefix } = keyspaces.of('locks')
    for (const key of await redis.client.keys(`${keyPrefix}lock:*`)) await redis.client.del(key)
  })
}

/** How many processes wait for locks that others hold. */
export function waitingForLocks(url: string): Promise<number> {
  return inKeyspaces(url, async (keyspaces) => {
    const { redis, keyPrefix } = keyspaces.of('locks')
    let count = 0
    for (const name of await redis.client.keys(`${keyPrefix}lock:*:waiters`))
      count += await redis.client.zcard(name)
    return count
  })
}

/** Keys that contain this text in their names or values. */
export function redisHolding(url: string, text: string): Promise<string[]> {
  return inKeyspaces(url, async ({ all }) => {
    // A node of a cluster lists the keys of all its keyspaces.
    const clients = new Map<string, Redis>()
    for (const { redis } of all)
      for (const key of await redis.client.keys('*')) clients.set(key, redis.client)
    const found: string[] = []
    for (const [key, client] of clients)
      if (key.includes(text) || (await client.dumpBuffer(key))?.includes(text)) found.push(key)
    return found.sort()
  })
}

async function inKeyspaces<T>(url: string, work: (keyspaces: RedisKeyspaces) => Promise<T>): Promise<T> {
  const keyspaces = connectKeyspaces({ url })
  try {
    await keyspaces.ready()
    return await work(keyspaces)
  } finally {
    await keyspaces.close()
  }
}

/** Uses its own connection. */
export async function inRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = connectRedis({ url })
  try {
    await redis.ready()
    return await work(redis.client)
  } finally {
    await redis.close()
  }
}

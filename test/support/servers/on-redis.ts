import type { Redis } from 'ioredis'
import { hashPrefix, prefixOf } from '../../../src/adapters/file-index/redis/keys.ts'
import { KEY_FIELD } from '../../../src/adapters/file-index/redis/lists/lua.ts'
import { keyAt } from '../../../src/adapters/file-index/redis/lists/originals.ts'
import { placeNamed } from '../../../src/adapters/file-index/redis/lists/places.ts'
import { indexedFile, parseName } from '../../../src/adapters/file-index/redis/names.ts'
import { connectRedis } from '../../../src/adapters/redis/connection.ts'
import { sharedRedis } from './redis-server.ts'

// What a service keeps in the shared Redis, as ../support/backends.ts has it: a database for each data folder.

/** The environment of a service on this database. */
export async function redisEnv(database: number): Promise<Record<string, string>> {
  return {
    REDIS_URL: await urlOf(database),
    CLIENT_TOKEN: 'pub_of_all_processes',
    SECRET_CLIENT_TOKEN: 'sec_of_all_processes',
    APP_SECRET: 'the-app-secret-of-all-processes-of-the-tests',
  }
}

export function redisRows(database: number): Promise<string[]> {
  return on(database, rowsIn)
}

/** The index's rows, as those of an embedded one: without the search. */
export async function rowsIn(redis: Redis): Promise<string[]> {
  const prefix = prefixOf('{sluice}:')
  const files = hashPrefix('{sluice}:')
  const rows = (await redis.zrange(`${prefix}unsettled`, '0', '-1')).map((name) => `u ${name}`)
  for (const file of await redis.keys(`${files}*`)) {
    const { clientId, end } = parseName(file.slice(files.length))
    const hash = await redis.hgetallBuffer(file)
    const key = keyAt(placeNamed(end), hash[KEY_FIELD]?.toString())
    const found = key && indexedFile({ clientId, key }, hash)
    if (!found) continue
    rows.push(`o ${clientId} ${key} ${found.original.state}`)
    for (const { key: derivative, entry } of found.derivatives)
      rows.push(`d ${clientId} ${key} ${derivative} ${entry.state}`)
  }
  return rows.sort()
}

export function emptyRedis(database: number): Promise<unknown> {
  return on(database, (redis) => redis.flushdb())
}

/** Ends the leases of all locks at once: those of dead processes need not be waited for. */
export function endLockLeases(database: number): Promise<void> {
  return on(database, async (redis) => {
    for (const key of await redis.keys('{sluice}:lock:*')) await redis.del(key)
  })
}

/** Keys that contain this text in their names or values. */
export function redisHolding(database: number, text: string): Promise<string[]> {
  return on(database, async (redis) => {
    const found: string[] = []
    for (const key of await redis.keys('*'))
      if (key.includes(text) || (await redis.dumpBuffer(key))?.includes(text)) found.push(key)
    return found.sort()
  })
}

async function on<T>(database: number, work: (redis: Redis) => Promise<T>): Promise<T> {
  return inRedis(await urlOf(database), work)
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

async function urlOf(database: number): Promise<string> {
  return `${(await sharedRedis()).url}/${database}`
}

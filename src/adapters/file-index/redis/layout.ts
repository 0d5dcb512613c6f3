import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isUnavailable } from '../../../core/problem.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { redisScript } from '../../redis/script.ts'
import { LAYOUT, prefixOf } from './keys.ts'
import { escapePattern } from './names.ts'
import { dataKey } from './run.ts'

// Keys that Redis looks at before it answers, and the time for others between two such calls.
const PAGE = 1000
const PAUSE_MS = 10
// A process that has stopped leaves the removal to others after this time.
const LEASE_MS = 30_000
const THIS_PROCESS = randomUUID()
// The single keys of version 1.0, and of the main branch after it. They get another type, so that its steps fail.
const REPLACED = ['unsettled', 'changes', 'data']
const FORMER_MARKS = ['complete', 'counted', 'searchable', 'searchable:2', 'compared', 'untidy']
// The keys per client match this. `docs/how-to/upgrade.md` has a list of all names, for the way back.
const FORMER =
  /^(?:file|list|totals|uses|derived|folders|subfolders|recount|search|texts|terms|former):|^upgrading$/

/** @throws Error when a newer version has stored the index. Not for keyspaces that are unavailable */
export async function checkLayouts(keyspaces: readonly RedisKeyspace[]): Promise<void> {
  await inAvailable(keyspaces, async ({ redis, keyPrefix }) =>
    refuseNewer(Number(await redis.send((client) => client.get(`${keyPrefix}layout`)))),
  )
}

/**
 * Notes that the index in Redis has the layout of this version. The first process that does so makes the steps of version 1.0 fail, and
 * the former index remains until {@link removeFormer}. The new one is empty, so it is filled from the buckets, as after a loss of Redis.
 *
 * {@link removeFormer} repeats it for keyspaces that are unavailable.
 * @throws as {@link checkLayouts}
 */
export async function claimLayouts(keyspaces: readonly RedisKeyspace[]): Promise<void> {
  await inAvailable(keyspaces, claimLayout)
}

async function inAvailable(
  keyspaces: readonly RedisKeyspace[],
  work: (keyspace: RedisKeyspace) => Promise<void>,
): Promise<void> {
  for (const outcome of await Promise.allSettled(keyspaces.map(work)))
    if (outcome.status === 'rejected' && !isUnavailable(outcome.reason)) throw outcome.reason
}

async function claimLayout({ redis, keyPrefix }: RedisKeyspace): Promise<void> {
  const prefix = prefixOf(keyPrefix)
  const replaced = REPLACED.map((name) => keyPrefix + name)
  const marks = FORMER_MARKS.map((name) => keyPrefix + name)
  const ownMarks = [formerKey(keyPrefix), `${prefix}complete`, dataKey(prefix)]
  refuseNewer(
    Number(await claim(redis, [`${keyPrefix}layout`, ...ownMarks, ...replaced, ...marks], [LAYOUT])),
  )
}

function refuseNewer(found: number): void {
  if (found > LAYOUT)
    throw new Error(
      `The data in Redis has the layout ${found} of a newer version. This version supports layout ${LAYOUT}: start the newer version.`,
    )
}

/**
 * Removes the index of version 1.0, if there is one. May be aborted, and called by several processes: one of them reads the keys of each
 * node once. A key may remain, and only takes memory, when a keyspace moves to another node in the meantime.
 *
 * @param options.nodeOf names the node of a keyspace
 * @throws Problem 503 when a keyspace is unavailable, after all others; as {@link checkLayouts}, and the reason of the signal
 */
export async function removeFormer(
  keyspaces: readonly RedisKeyspace[],
  { signal, nodeOf }: { signal: AbortSignal; nodeOf(keyspace: RedisKeyspace): Promise<string> },
): Promise<void> {
  const found = await Promise.allSettled(
    keyspaces.map(async (keyspace) => {
      await claimLayout(keyspace)
      const { redis, keyPrefix } = keyspace
      const isDue = (await redis.send((client) => client.exists(formerKey(keyPrefix)))) > 0
      return isDue ? { node: await nodeOf(keyspace), keyspace } : undefined
    }),
  )
  const byNode = new Map<string, RedisKeyspace[]>()
  // In the same order in all processes, since the first keyspace of a node has its lock.
  for (const outcome of found) {
    if (outcome.status === 'rejected' || !outcome.value) continue
    const { node, keyspace } = outcome.value
    byNode.set(node, [...(byNode.get(node) ?? []), keyspace])
  }
  const removed = await Promise.allSettled([...byNode.values()].map((some) => removeOn(some, signal)))
  for (const outcome of [...found, ...removed]) if (outcome.status === 'rejected') throw outcome.reason
}

/** Removes the keys of version 1.0 in keyspaces on one node, unless another process does it. */
async function removeOn(keyspaces: readonly RedisKeyspace[], signal: AbortSignal): Promise<void> {
  const [{ redis, keyPrefix }] = keyspaces as [RedisKeyspace]
  const lock = `${prefixOf(keyPrefix)}removing`
  const pattern = keyspaces.length === 1 ? `${escapePattern(keyPrefix)}*` : '*'
  for (let cursor = '0', isRead = false; !isRead; ) {
    signal.throwIfAborted()
    if (!(await hold(redis, [lock], [THIS_PROCESS, LEASE_MS]))) return
    const [next, names] = await redis.send((client) =>
      client.scanBuffer(cursor, 'MATCH', pattern, 'COUNT', PAGE),
    )
    cursor = String(next)
    isRead = cursor === '0'
    for (const keyspace of keyspaces) {
      const former = names.filter((name) => isFormer(name, keyspace))
      if (former.length > 0) await keyspace.redis.send((client) => client.unlink(...former))
    }
    if (!isRead) await pause(PAUSE_MS)
  }
  for (const { redis, keyPrefix } of keyspaces) await redis.send((client) => client.del(formerKey(keyPrefix)))
  await redis.send((client) => client.del(lock))
}

/** Not all names are valid UTF-8. */
function isFormer(name: Buffer, { keyPrefix }: RedisKeyspace): boolean {
  const text = name.toString('latin1')
  return text.startsWith(keyPrefix) && FORMER.test(text.slice(keyPrefix.length))
}

/** Exists while there may be keys of version 1.0. */
function formerKey(keyPrefix: string): string {
  return `${prefixOf(keyPrefix)}former`
}

/**
 * KEYS: layout, the mark of {@link removeFormer}, the marks of this layout, the keys that get another type, keys to delete. ARGV: layout
 * of this version. What this layout has marked is of the time before a return to version 1.0 when there are keys of version 1.0.
 * The first write takes no memory: a full Redis would refuse it.
 * @returns the layout of the index
 */
const claim = redisScript(`
local known = tonumber(redis.call('GET', KEYS[1]) or 0)
if known >= tonumber(ARGV[1]) then return known end
if redis.call('UNLINK', unpack(KEYS, 5)) > 0 then redis.call('UNLINK', KEYS[3], KEYS[4]) end
redis.call('SET', KEYS[5], 'layout ' .. ARGV[1])
redis.call('SET', KEYS[6], 'layout ' .. ARGV[1])
redis.call('HSET', KEYS[7], 'layout', ARGV[1])
redis.call('SET', KEYS[2], 1)
redis.call('SET', KEYS[1], ARGV[1])
return tonumber(ARGV[1])`)

/** KEYS: lock. ARGV: holder, milliseconds. @returns 1, or 0 when another holds it. Its first write takes no memory. */
const hold = redisScript(`
if (redis.call('GET', KEYS[1]) or ARGV[1]) ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

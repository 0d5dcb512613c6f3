import { isUnavailable } from '../../../core/problem.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { redisScript } from '../../redis/script.ts'
import { LAYOUT, prefixOf } from './keys.ts'
import { escapePattern } from './names.ts'
import { dataKey } from './run.ts'

// Keys that Redis looks at before it answers.
const PAGE = 1000
// The single keys of version 1.0, and of the main branch after it. Their texts, sets and hashes of clients are FORMER.
const FORMER_MARKS = [
  'complete',
  'counted',
  'searchable',
  'searchable:2',
  'compared',
  'data',
  'changes',
  'untidy',
]
const FORMER =
  /^(?:file|list|totals|uses|derived|folders|subfolders|recount|search|texts|terms|former):|^upgrading$/

/**
 * Notes that the index in Redis has the layout of this version. The first process that does so makes the steps of version 1.0 fail, and
 * the former index remains until {@link removeFormer}. The new one is empty, so it is filled from the buckets, as after a loss of Redis.
 *
 * @throws Error when a newer version has stored the index, and Problem 503 when Redis is unavailable
 */
export async function claimLayout(
  redis: RedisConnection,
  { keyPrefix }: { keyPrefix: string },
): Promise<void> {
  const prefix = prefixOf(keyPrefix)
  // An index of this layout may be of the time before a return to version 1.0.
  const marks = [...FORMER_MARKS.map((name) => keyPrefix + name), `${prefix}complete`, dataKey(prefix)]
  const keys = [`${keyPrefix}layout`, `${keyPrefix}unsettled`, formerKey(keyPrefix), ...marks]
  const found = Number(await claim(redis, keys, [LAYOUT]))
  if (found > LAYOUT)
    throw new Error(
      `The index in Redis has the layout ${found} of a newer version. This version supports layout ${LAYOUT}: start the newer version.`,
    )
}

/**
 * The same for all keyspaces of an index. {@link removeFormer} repeats it for those that are unavailable.
 * @throws Error when a newer version has stored the index
 */
export async function claimLayouts(keyspaces: readonly RedisKeyspace[]): Promise<void> {
  const outcomes = await Promise.allSettled(
    keyspaces.map(({ redis, keyPrefix }) => claimLayout(redis, { keyPrefix })),
  )
  for (const outcome of outcomes)
    if (outcome.status === 'rejected' && !isUnavailable(outcome.reason)) throw outcome.reason
}

/** Removes the index of version 1.0, if there is one. May be aborted, and called by several processes. @throws as {@link claimLayout} */
export async function removeFormer(
  redis: RedisConnection,
  { keyPrefix, signal }: { keyPrefix: string; signal: AbortSignal },
): Promise<void> {
  await claimLayout(redis, { keyPrefix })
  const mark = formerKey(keyPrefix)
  if ((await redis.send((client) => client.exists(mark))) === 0) return
  for (let cursor = '0', begun = false; !begun || cursor !== '0'; begun = true) {
    signal.throwIfAborted()
    const page = await redis.send((client) =>
      client.scan(cursor, 'MATCH', `${escapePattern(keyPrefix)}*`, 'COUNT', PAGE),
    )
    cursor = page[0]
    const names = page[1].filter((name) => FORMER.test(name.slice(keyPrefix.length)))
    if (names.length > 0) await redis.send((client) => client.unlink(...names))
  }
  await redis.send((client) => client.del(mark))
}

/** Exists while there may be keys of version 1.0. */
function formerKey(keyPrefix: string): string {
  return `${prefixOf(keyPrefix)}former`
}

/**
 * KEYS: layout, the set of unsettled entries of version 1.0, the mark of {@link removeFormer}, keys to delete. ARGV: layout of this
 * version. The set becomes a text, so that steps of version 1.0 fail. The first write takes no memory: a full Redis would refuse it.
 * @returns the layout of the index
 */
const claim = redisScript(`
local known = tonumber(redis.call('GET', KEYS[1]) or 0)
if known >= tonumber(ARGV[1]) then return known end
redis.call('UNLINK', unpack(KEYS, 2))
redis.call('SET', KEYS[2], 'layout ' .. ARGV[1])
redis.call('SET', KEYS[3], 1)
redis.call('SET', KEYS[1], ARGV[1])
return tonumber(ARGV[1])`)

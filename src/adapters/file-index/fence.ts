import type { RedisConnection } from '../redis/connection.ts'
import { type RedisScript, redisScript } from '../redis/script.ts'
import { ownerOf } from './redis/names.ts'

/**
 * The keys of a step that is executed only by the current division of its client, see `partitioned/divisions.ts`. Each partition has
 * a key with the greatest epoch of the client that it knows: its fence.
 */
export interface FencedKeys {
  keys: readonly string[]
  /** The key of the fence, of {@link fenceOf}. */
  fence: string
  /** The epoch of the division by which the caller has chosen this partition, from 0. */
  epoch: number
}

/** The client has another division than the caller knew. Nothing was executed. */
export class StaleDivision extends Error {
  /** The epoch that the partition knows. */
  readonly epoch: number
  constructor(epoch: number) {
    super(`expected a division of epoch ${epoch} or later`)
    this.epoch = epoch
  }
}

// No step returns a list that begins with this text.
const REFUSED = ':epoch'

/**
 * The beginning of a fenced script. KEYS ends with the fence, and ARGV with the epoch of the caller. A smaller one than that of the
 * fence is refused, a larger one raises it.
 *
 * The epoch is odd during a move. Then `deleted` is the set of the client's files that were deleted since it began. An old copy
 * of one must not be added again. The set is deleted when the fence is raised: then, steps of that move are refused.
 */
const FENCE = `
local fence, epoch = table.remove(KEYS), tonumber(table.remove(ARGV))
local known = tonumber(redis.call('GET', fence) or 0)
if epoch < known then return { '${REFUSED}', string.format('%.0f', known) } end
local is_raised = epoch > known
if is_raised then
  -- The first write takes no memory: a full Redis would refuse it.
  redis.call('UNLINK', fence .. 'deleted')
  redis.call('SET', fence, string.format('%.0f', epoch))
end
local deleted = epoch % 2 == 1 and fence .. 'deleted'
`

const NO_FENCE = `
local is_raised, deleted = false, false
`

/** The key with the epoch of a client in a partition. */
export function fenceOf(keyPrefix: string, clientId: string): string {
  return `${keyPrefix}epoch:${ownerOf(clientId)}`
}

/**
 * A script that may have a fence. Its text can use `is_raised`, whether it has raised the fence, and `deleted`.
 * @throws StaleDivision
 */
export function fencedScript(
  lua: string,
  options: { replies?: 'text' | 'bytes' } = {},
): (
  redis: RedisConnection,
  keys: readonly string[] | FencedKeys,
  args: Parameters<RedisScript>[2],
) => Promise<unknown> {
  const plain = redisScript(NO_FENCE + lua, options)
  const fenced = redisScript(FENCE + lua, options)
  return async (redis, keys, args) => {
    if (!('fence' in keys)) return plain(redis, keys, args)
    const answer = await fenced(redis, [...keys.keys, keys.fence], [...args, keys.epoch])
    if (Array.isArray(answer) && !Array.isArray(answer[0]) && String(answer[0]) === REFUSED)
      throw new StaleDivision(Number(answer[1]))
    return answer
  }
}

/** Raises a fence, and does nothing else. @returns 1, or 0 when it was raised already */
export const raiseFence = fencedScript('return is_raised and 1 or 0')

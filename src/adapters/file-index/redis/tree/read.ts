import type { RedisConnection } from '../../../redis/connection.ts'
import { redisScript } from '../../../redis/script.ts'
import { TREE_READS } from './lua.ts'

/** A part of a list, as `lua.ts` describes lists. */
export interface MemberRange {
  /** `down`: from the last member of the range on. Default: `up` */
  direction?: 'up' | 'down' | undefined
  /** At least 1. */
  limit: number
  /** Exclusive, as `below` is. */
  above?: string | Buffer | undefined
  below?: string | Buffer | undefined
  /** As `below`, but inclusive. */
  upTo?: string | Buffer | undefined
}

/**
 * Reads members of a list in one step, in the order of the direction.
 * @returns fewer than `limit` only at the end of the range
 */
export async function readMembers(
  redis: RedisConnection,
  list: string,
  { direction = 'up', limit, above, below, upTo }: MemberRange,
): Promise<Buffer[]> {
  const min = above === undefined ? '-' : bound('(', above)
  const max = below !== undefined ? bound('(', below) : upTo !== undefined ? bound('[', upTo) : '+'
  return (await membersBetween(redis, [list], [direction, limit, min, max])) as Buffer[]
}

function bound(sign: '(' | '[', member: string | Buffer): Buffer {
  return Buffer.concat([Buffer.from(sign), Buffer.from(member as string)])
}

/** KEYS: list. ARGV: direction, maximum, lower and upper bound. */
const membersBetween = redisScript(
  `${TREE_READS}
return members_between(KEYS[1], ARGV[3], ARGV[4], tonumber(ARGV[2]), ARGV[1] == 'down')`,
  { replies: 'bytes' },
)

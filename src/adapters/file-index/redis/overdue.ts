import type { Overdue } from '../../../core/ports/index/steps.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import { overdueItem, pairs } from './names.ts'

// Items in one response: about 200 kB.
const PAGE = 1000

/**
 * The unsettled entries up to an instant. Reads page by page. Each page begins at the last instant of the page before it, so entries
 * that are settled in between shift no positions. Entries already returned are not returned again.
 */
export async function* overdueIn(
  redis: RedisConnection,
  unsettled: string,
  now: number,
): AsyncIterable<Overdue> {
  let from = '-inf'
  let given = new Set<string>()
  for (let limit = PAGE; ; ) {
    const items = pairs(
      await redis.send((client) =>
        client.zrangebyscore(unsettled, from, now, 'WITHSCORES', 'LIMIT', 0, limit),
      ),
    )
    for (const item of items) if (!given.has(item.name)) yield overdueItem(item)
    const last = items.at(-1)?.instant
    if (last === undefined || items.length < limit) return
    // All entries of this page have the same instant: the next page must be larger to reach beyond it.
    limit = last === from ? limit * 2 : PAGE
    given = new Set(items.filter(({ instant }) => instant === last).map(({ name }) => name))
    from = last
  }
}

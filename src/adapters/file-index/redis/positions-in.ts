import type { PageRequest } from '../../../core/ports/index/page-request.ts'
import type { RedisConnection } from '../../redis/connection.ts'
import type { Bounds } from '../positions.ts'

/** The positions in a list between two bounds. */
export function positionsIn(
  redis: RedisConnection,
  list: string,
  { direction, limit }: Pick<PageRequest, 'direction' | 'limit'>,
  { above, below }: Bounds,
): Promise<string[]> {
  const [min, max] = [above === undefined ? '-' : `(${above}`, below === undefined ? '+' : `(${below}`]
  return redis.send((client) =>
    direction === 'down'
      ? client.zrevrangebylex(list, max, min, 'LIMIT', 0, limit)
      : client.zrangebylex(list, min, max, 'LIMIT', 0, limit),
  )
}

import type { RedisConnection } from '../../redis/connection.ts'
import { redisScript } from '../../redis/script.ts'
import { dataKey, setMarks } from './run.ts'

/** The number of the layout that this version reads and writes. Indexes of version 1.0 have no number. */
export const LAYOUT = 2

/** The layout of an index in Redis, and the marks that it is complete. */
export interface RedisLayout {
  /**
   * Notes the layout of this version. Version 1.0 loses its own marks: it must not trust its lists and counters any more.
   * @throws Error when a newer version has stored the index, and a Problem 503 when Redis is unavailable
   */
  claim(): Promise<void>
  /** Marks of this version, or of 1.0. */
  isComplete(): Promise<boolean>
  isCounted(): Promise<boolean>
  /** Sets these marks and that of the search, unless the keys were deleted since the data had this name. */
  markComplete(names: { search: string; data: string }): Promise<void>
  /** The name of the mark that version 1.0 has completed its lists again after this version. */
  reviewing: string
}

export function redisLayout(redis: RedisConnection, { keyPrefix }: { keyPrefix: string }): RedisLayout {
  const layout = `${keyPrefix}layout`
  const complete = `${keyPrefix}complete`
  const counted = `${keyPrefix}counted`
  const reviewing = `${keyPrefix}reviewing`
  const exists = async (mark: string) =>
    (await redis.send((client) => client.exists(mark, `${mark}:${LAYOUT}`))) > 0
  return {
    reviewing,
    async claim() {
      const marks = [complete, counted, `${complete}:${LAYOUT}`, `${counted}:${LAYOUT}`]
      const found = Number(await claimLayout(redis, [layout, reviewing, ...marks], [LAYOUT]))
      if (found > LAYOUT)
        throw new Error(
          `The index in Redis has the layout ${found} of a newer version; this version supports up to ${LAYOUT}. ` +
            'Start the newer version, or restore a backup of Redis.',
        )
    },
    isComplete: () => exists(complete),
    isCounted: () => exists(counted),
    async markComplete({ search, data }) {
      const marks = [`${complete}:${LAYOUT}`, `${counted}:${LAYOUT}`, search]
      await setMarks(redis, [dataKey(keyPrefix), ...marks], [data])
    },
  }
}

/**
 * KEYS: layout, reviewing, two marks of version 1.0, two of this version. ARGV: layout of this version. The first write takes no memory
 * when version 1.0 has run. @returns the layout of the index
 */
const claimLayout = redisScript(`
local known, own = tonumber(redis.call('GET', KEYS[1]) or 1), tonumber(ARGV[1])
if known > own then return known end
for i = 3, 4 do
  if redis.call('DEL', KEYS[i]) == 1 then
    redis.call('SET', KEYS[i + 2], '1')
    if known == own then redis.call('SET', KEYS[2], '1') end
  end
end
if known < own then redis.call('SET', KEYS[1], ARGV[1]) end
return own`)

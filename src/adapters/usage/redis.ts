import { USAGE_RETENTION_DAYS, type UsageStore } from '../../core/ports/usage.ts'
import type { RedisConnection } from '../redis/connection.ts'

const RETENTION_SECONDS = USAGE_RETENTION_DAYS * 86_400

/** Counts in Redis, for any number of processes: one hash per client and day. */
export function redisUsage(redis: RedisConnection, { keyPrefix }: { keyPrefix: string }): UsageStore {
  const nameOf = (clientId: string, day: string) => `${keyPrefix}usage:${encodeURIComponent(clientId)}/${day}`
  return {
    async add(usage) {
      if (usage.length === 0) return
      await redis.send(async (client) => {
        const steps = client.multi()
        for (const { clientId, day, counts } of usage) {
          const name = nameOf(clientId, day)
          for (const [count, by] of Object.entries(counts)) steps.hincrby(name, count, by)
          steps.expire(name, RETENTION_SECONDS)
        }
        return steps.exec()
      })
    },
    async read(clientId, days) {
      const hashes = await redis.send((client) =>
        Promise.all(days.map((day) => client.hgetall(nameOf(clientId, day)))),
      )
      return days.map((day, i) => ({
        clientId,
        day,
        counts: Object.fromEntries(
          Object.entries(hashes[i] ?? {}).map(([name, count]) => [name, Number(count)]),
        ),
      }))
    },
  }
}

import {
  AUDIT_ENTRIES_MAX,
  type AuditEntry,
  type AuditStore,
  isAudited,
  type StoredEntry,
} from '../../core/ports/audit-log.ts'
import type { RedisConnection } from '../redis/connection.ts'

const CHUNK = 200

/**
 * An audit log in Redis, for any number of processes: a stream. It is lost when Redis is emptied.
 *
 * @see https://redis.io/docs/latest/develop/data-types/streams/
 */
export function redisAuditLog(
  redis: RedisConnection,
  { keyPrefix, most = AUDIT_ENTRIES_MAX }: { keyPrefix: string; most?: number },
): AuditStore {
  const key = `${keyPrefix}audit`
  return {
    async append(entry) {
      // "~": Redis removes whole nodes of its stream, which takes less time.
      await redis.send((client) => client.xadd(key, 'MAXLEN', '~', most, '*', 'entry', JSON.stringify(entry)))
    },

    async list({ before, limit, ...filter }) {
      // Redis refuses a range that ends before its least ID.
      if (before !== undefined && /^0+-0+$/.test(before)) return []
      const found: StoredEntry[] = []
      for (let end = before === undefined ? '+' : `(${before}`; found.length < limit; ) {
        const rows = await redis.send((client) => client.xrevrange(key, end, '-', 'COUNT', CHUNK))
        for (const [id, [, text = '']] of rows) {
          const entry: AuditEntry & { at: number } = JSON.parse(text)
          if (isAudited(entry, filter)) found.push({ ...entry, id })
        }
        if (rows.length < CHUNK) break
        end = `(${rows.at(-1)?.[0]}`
      }
      return found.slice(0, limit)
    },
  }
}

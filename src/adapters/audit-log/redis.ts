import {
  AUDIT_ENTRIES_MAX,
  type AuditEntry,
  type AuditStore,
  isAudited,
  REFUSED_SIGN_IN,
  REFUSED_SIGN_INS_MAX,
  type StoredEntry,
} from '../../core/ports/audit-log.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'

const CHUNK = 200

// "~": Redis removes whole nodes of its stream, which takes less time. KEYS[2] has the IDs of refused sign-ins, the oldest first.
const APPEND = redisScript(`
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'entry', ARGV[2])
if ARGV[3] == '' then return end
redis.call('RPUSH', KEYS[2], id)
while redis.call('LLEN', KEYS[2]) > tonumber(ARGV[3]) do
  redis.call('XDEL', KEYS[1], redis.call('LPOP', KEYS[2]))
end
`)

/**
 * An audit log in Redis, for any number of processes: a stream. It is lost when Redis is emptied.
 *
 * @see https://redis.io/docs/latest/develop/data-types/streams/
 */
export function redisAuditLog(
  redis: RedisConnection,
  {
    keyPrefix,
    most = AUDIT_ENTRIES_MAX,
    mostRefused = REFUSED_SIGN_INS_MAX,
  }: { keyPrefix: string; most?: number; mostRefused?: number },
): AuditStore {
  const key = `${keyPrefix}audit`
  return {
    async append(entry) {
      const bound = entry.action === REFUSED_SIGN_IN ? mostRefused : ''
      await APPEND(redis, [key, `${key} refused`], [most, JSON.stringify(entry), bound])
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

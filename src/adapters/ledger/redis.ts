import type { Ledger } from '../../core/ports/ledger.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'

// ARGV: the expected text and the new one, each with a prefix: "n" for nothing, "t" for a text; then the time of expiry.
const replace = redisScript(`
local present = redis.call('GET', KEYS[1])
if (present and 't' .. present or 'n') ~= ARGV[1] then return 0 end
if ARGV[2] == 'n' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], string.sub(ARGV[2], 2), 'PXAT', ARGV[3]) end
return 1`)

/** A ledger for all processes on one Redis. Its entries are lost when Redis is emptied. */
export function redisLedger(redis: RedisConnection, { keyPrefix }: { keyPrefix: string }): Ledger {
  const key = (name: string) => `${keyPrefix}ledger:${name}`
  const marked = (text: string | undefined) => (text === undefined ? 'n' : `t${text}`)
  return {
    find: async (name) => (await redis.send((client) => client.get(key(name)))) ?? undefined,
    replace: async (name, before, after, { forgetAt }) =>
      (await replace(redis, [key(name)], [marked(before), marked(after), forgetAt])) === 1,
  }
}

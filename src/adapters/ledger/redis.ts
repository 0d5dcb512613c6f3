import type { Ledger } from '../../core/ports/ledger.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'

// ARGV: what is there and what is to be there, each behind a letter, n for nothing and t for text, and when it is forgotten.
const replace = redisScript(`
local present = redis.call('GET', KEYS[1])
if (present and 't' .. present or 'n') ~= ARGV[1] then return 0 end
if ARGV[2] == 'n' then redis.call('DEL', KEYS[1])
else redis.call('SET', KEYS[1], string.sub(ARGV[2], 2), 'PXAT', ARGV[3]) end
return 1`)

/** A ledger for all processes on one Redis. Redis that was emptied has forgotten all of it. */
export function redisLedger(redis: RedisConnection, { keyPrefix }: { keyPrefix: string }): Ledger {
  const key = (name: string) => `${keyPrefix}ledger:${name}`
  const marked = (text: string | undefined) => (text === undefined ? 'n' : `t${text}`)
  return {
    find: async (name) => (await redis.send((client) => client.get(key(name)))) ?? undefined,
    replace: async (name, before, after, { forgetAt }) =>
      (await replace(redis, [key(name)], [marked(before), marked(after), forgetAt])) === 1,
  }
}

import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Handover } from '../../core/ports/handover.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'
import { heldByAnother } from './held.ts'

// How often one who waits asks, and how often a holder looks whether somebody does: what a handover takes at most.
const ASK_EVERY_MS = 200
const LOOK_EVERY_MS = 500

/**
 * Across all processes that use one Redis.
 *
 * @param leaseMs how long what a dead process holds stays taken; a holder that cannot renew it for so long has lost it
 */
export function redisHandover(
  redis: RedisConnection,
  { keyPrefix, leaseMs = 5000 }: { keyPrefix: string; leaseMs?: number },
): Handover {
  return {
    async take(name, { wanted, waitMs, signal }) {
      const me = randomUUID()
      const key = `${keyPrefix}handover:${name}`
      const run = (script: typeof ask) => script(redis, [key, `${key}:wanted`], [me, leaseMs])
      const until = performance.now() + waitMs
      let leasedFrom = performance.now()
      while ((await run(ask)) !== 1) {
        if (performance.now() > until) throw heldByAnother()
        await pause(ASK_EVERY_MS, undefined, { signal }).catch(() => signal.throwIfAborted())
        leasedFrom = performance.now()
      }
      const look = async () => {
        const from = performance.now()
        const state = await run(renew).catch(() => 'unknown')
        if (state === 'kept' || state === 'wanted') leasedFrom = from
        const isLost = state === 'lost' || performance.now() - leasedFrom > leaseMs
        if (state === 'wanted' || isLost) wanted()
        if (isLost) clearInterval(looking)
      }
      const looking = setInterval(() => void look(), LOOK_EVERY_MS)
      return async () => {
        clearInterval(looking)
        // It runs out by itself.
        await run(release).catch(() => {})
      }
    },
  }
}

/**
 * KEYS: 1. the holder's token, which expires with the lease, 2. whether somebody wants it
 * ARGV: 1. the caller's token, 2. the lease in milliseconds
 *
 * Each may be done twice.
 */
const ask = redisScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then
  redis.call('SET', KEYS[2], '1', 'PX', ARGV[2])
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
return 1
`)

const renew = redisScript(`
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 'lost' end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return redis.call('EXISTS', KEYS[2]) == 1 and 'wanted' or 'kept'
`)

const release = redisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`)

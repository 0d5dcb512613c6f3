import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Handover } from '../../core/ports/handover.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'
import { heldByAnother } from './held.ts'

// The polling intervals of a waiter and of a holder. Their sum is the maximum delay of a handover.
const ASK_EVERY_MS = 200
const LOOK_EVERY_MS = 500

/**
 * A handover across all processes that use one Redis.
 *
 * @param options.leaseMs how long the claim of a dead process lasts. A holder that cannot renew its lease for this time
 *   has lost it
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
        // A renewal may wait for its response for longer than the lease.
        const isLate = from - leasedFrom > leaseMs
        const state = isLate ? 'lost' : await run(renew).catch(() => 'unknown')
        if (state === 'renewed' || state === 'wanted') leasedFrom = from
        const isLost = state === 'lost' || performance.now() - leasedFrom > leaseMs
        if (state === 'wanted' || isLost) wanted()
        if (isLost) clearInterval(looking)
      }
      const looking = setInterval(() => void look(), LOOK_EVERY_MS)
      return async () => {
        clearInterval(looking)
        // When the release fails, the lease expires by itself.
        await run(release).catch(() => {})
      }
    },
  }
}

/**
 * KEYS: 1. the holder's token, which expires with the lease, 2. a flag: another process waits
 * ARGV: 1. the caller's token, 2. the lease in milliseconds
 *
 * Each script may run twice with the same result.
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
return redis.call('EXISTS', KEYS[2]) == 1 and 'wanted' or 'renewed'
`)

const release = redisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
`)

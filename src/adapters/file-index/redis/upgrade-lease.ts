import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../../redis/connection.ts'
import { redisScript } from '../../redis/script.ts'

const LEASE_MS = 60_000

/** The right to convert what an older version has stored, which one process has at a time. */
export interface UpgradeLease {
  /** Takes the lease, or renews it. @returns whether this process has it */
  hold(): Promise<boolean>
  release(): Promise<void>
}

export function upgradeLease(redis: RedisConnection, { keyPrefix }: { keyPrefix: string }): UpgradeLease {
  const lease = `${keyPrefix}upgrading`
  const process = randomUUID()
  return {
    hold: async () => (await holdLease(redis, [lease], [process, LEASE_MS])) === 1,
    async release() {
      await releaseLease(redis, [lease], [process])
    },
  }
}

// The first write of these scripts takes no memory, so a full Redis does not refuse it.

/** KEYS: lease. ARGV: process, milliseconds. @returns 1 when this process has the lease, or has renewed it */
const holdLease = redisScript(`
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`)

/** KEYS: lease. ARGV: process. */
const releaseLease = redisScript(`
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`)

import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'

/** One process's claim on a lock, under a token of its own: it holds the lock by it, or waits. */
export interface Claim {
  readonly leaseMs: number
  /**
   * Asks for the lock, or for the outcome of the holder who is `awaited`, or else for a place among those who wait;
   * asked again and again, which keeps the place. Who holds the lock and did not learn of it is told so.
   */
  ask(awaited: string): Promise<ClaimAnswer>
  /** Gives the place back. */
  leave(): Promise<void>
  /**
   * Renews the holder's lease. `alone`: nobody waits in its own process any more; if nobody does in another either, the
   * lock is `abandoned`: who asks from now on waits for its end and gets no outcome.
   */
  renew(options: { alone: boolean }): Promise<'kept' | 'abandoned' | 'lost'>
  /** Gives the holder's outcome to those who wait while its work goes on; nobody who asks from now on gets one. */
  giveUp(outcome: string): Promise<void>
  /** Releases the holder's lock, with an outcome for those who wait. */
  finish(outcome?: string): Promise<void>
}

export type ClaimAnswer =
  | 'held'
  | { told: string }
  /** `awaited`: whose outcome there will be; empty for none. `restMs`: of the holder's lease. */
  | { awaited: string; restMs: number }

export interface LockPlace {
  redis: RedisConnection
  keyPrefix: string
  /** Where a lock's name is told when its holder has ended or given up, or its last waiter has left. */
  channel: string
  leaseMs: number
}

/** A new claim on the lock of this name; nothing is asked yet. */
export function claimOn(name: string, { redis, keyPrefix, channel, leaseMs }: LockPlace): Claim {
  const token = randomUUID()
  // One hash tag, so that all keys of a lock are on one machine; a brace would end it early.
  const lock = `${keyPrefix}lock:{${name.replace(/[%}]/g, (one) => encodeURIComponent(one))}}`
  const run = (script: typeof ask, last: string, outcomeOf: string = token) =>
    script(
      redis,
      [lock, `${lock}:waiters`, `${lock}:outcome:${outcomeOf}`],
      [token, leaseMs, channel, name, last],
    )
  return {
    leaseMs,
    async ask(awaited) {
      const [kind, text, restMs] = (await run(ask, awaited, awaited)) as [
        'held' | 'told' | 'wait',
        string,
        number,
      ]
      if (kind === 'held') return 'held'
      return kind === 'told' ? { told: text } : { awaited: text, restMs }
    },
    async leave() {
      await run(leave, '')
    },
    async renew({ alone }) {
      return (await run(renew, alone ? 'alone' : '')) as 'kept' | 'abandoned' | 'lost'
    },
    async giveUp(outcome) {
      await run(giveUp, outcome)
    },
    async finish(outcome = '') {
      await run(finish, outcome)
    },
  }
}

/**
 * KEYS: 1. the lock: a hash of its `holder`'s token and, when there is, the mark `abandoned`; it expires with the lease
 *       2. those who wait, in all processes: a sorted set of tokens by the instant at which they count as dead
 *       3. an outcome: of the holder who is awaited, or of the caller
 * ARGV: 1. the caller's token, 2. the lease in milliseconds, 3. the channel, 4. the lock's name
 *
 * Instants are those of Redis' own clock. A step may be done twice: only the lock's holder changes it, each token holds
 * it once, and what has a lease or a place without knowing it loses it in time.
 */
const COMMON = `
local lock, waiters, outcome = KEYS[1], KEYS[2], KEYS[3]
local me, lease, channel, name, last = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local function now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function text(instant)
  return string.format('%d', instant)
end

local function holds()
  return redis.call('HGET', lock, 'holder') == me
end

local function nobody_waits()
  redis.call('ZREMRANGEBYSCORE', waiters, '-inf', text(now()))
  return redis.call('ZCARD', waiters) == 0
end

-- Where Redis does not let us, those who wait look for themselves.
local function tell()
  redis.pcall('PUBLISH', channel, name)
end
`

const step = (lua: string) => redisScript(COMMON + lua)

const ask = step(`
local awaited = last
local told = awaited ~= '' and redis.call('GET', outcome)
if told then
  redis.call('ZREM', waiters, me)
  return {'told', told}
end
local holder = redis.call('HGET', lock, 'holder')
if not holder or holder == me then
  redis.call('HSET', lock, 'holder', me)
  redis.call('PEXPIRE', lock, lease)
  redis.call('ZREM', waiters, me)
  return {'held'}
end
redis.call('ZADD', waiters, text(now() + lease), me)
redis.call('PEXPIRE', waiters, lease)
local abandoned = redis.call('HEXISTS', lock, 'abandoned') == 1
return {'wait', abandoned and '' or holder, redis.call('PTTL', lock)}
`)

const leave = step(`
redis.call('ZREM', waiters, me)
if nobody_waits() then tell() end
`)

const renew = step(`
if not holds() then return 'lost' end
redis.call('PEXPIRE', lock, lease)
local alone = last == 'alone'
if not alone or not nobody_waits() then return 'kept' end
redis.call('HSET', lock, 'abandoned', '1')
return 'abandoned'
`)

const giveUp = step(`
if not holds() then return end
redis.call('HSET', lock, 'abandoned', '1')
redis.call('SET', outcome, last, 'PX', lease)
tell()
`)

const finish = step(`
if not holds() then return end
local awaited = not nobody_waits()
if awaited and last ~= '' then redis.call('SET', outcome, last, 'PX', lease) end
redis.call('DEL', lock, waiters)
if awaited then tell() end
`)

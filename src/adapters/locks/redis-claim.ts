import { randomUUID } from 'node:crypto'
import type { RedisConnection } from '../redis/connection.ts'
import { redisScript } from '../redis/script.ts'

/** The claim of one process on a lock, under its own random token. The process holds the lock, or waits for it. */
export interface Claim {
  readonly leaseMs: number
  /**
   * Requests the lock. Returns the outcome of the `awaited` holder when that is available. Otherwise the process joins the
   * waiters. Repeated calls keep its place among them. A holder whose earlier response was lost gets `held` again.
   */
  ask(awaited: string): Promise<ClaimReply>
  /** Removes the process from the waiters. */
  leave(): Promise<void>
  /**
   * Renews the holder's lease. `alone` means that no caller in the holder's process waits any more. When no other
   * process waits either, the lock becomes `abandoned`: later callers wait for its end and get no outcome.
   */
  renew(options: { alone: boolean }): Promise<'renewed' | 'abandoned' | 'lost'>
  /** Publishes an outcome for the current waiters while the work still runs. Later callers get no outcome. */
  giveUp(outcome: string): Promise<void>
  /** Releases the holder's lock, and publishes an outcome for the waiters. */
  finish(outcome?: string): Promise<void>
}

/** `held`: the caller has the lock. `outcome`: the outcome of the awaited holder. Otherwise the caller waits. */
export type ClaimReply =
  | 'held'
  | { outcome: string }
  /**
   * `awaited`: the token of the holder whose outcome will be published; empty when there will be none. `restMs`: rest
   * of the holder's lease.
   */
  | { awaited: string; restMs: number }

/** Where and how long the locks of an installation are held. */
export interface LockPlace {
  redis: RedisConnection
  keyPrefix: string
  /** The channel on which the name of a lock is published: when its holder ends or gives up, or when its last waiter leaves. */
  channel: string
  leaseMs: number
}

/** Creates a claim on the lock of this name. It sends nothing yet. */
export function claimOn(name: string, { redis, keyPrefix, channel, leaseMs }: LockPlace): Claim {
  const token = randomUUID()
  // One hash tag, so that a cluster stores all keys of a lock on one node. A brace in the name would end the tag early.
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
        'held' | 'outcome' | 'wait',
        string,
        number,
      ]
      if (kind === 'held') return 'held'
      return kind === 'outcome' ? { outcome: text } : { awaited: text, restMs }
    },
    async leave() {
      await run(leave, '')
    },
    async renew({ alone }) {
      return (await run(renew, alone ? 'alone' : '')) as 'renewed' | 'abandoned' | 'lost'
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
 * KEYS: 1. the lock: a hash with the token of its `holder` and, optionally, the flag `abandoned`; it expires with the lease
 *       2. the waiters of all processes: a sorted set of tokens by the time at which they count as dead
 *       3. an outcome: that of the awaited holder, or of the caller
 * ARGV: 1. the caller's token, 2. the lease in milliseconds, 3. the channel, 4. the lock's name
 *
 * Times are those of the Redis clock. Each step may run twice: only the holder changes the lock, and each token holds it
 * once. A lease or place whose owner did not get the response expires.
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

-- Redis may refuse PUBLISH by its ACL. Then the waiters poll.
local function publish()
  redis.pcall('PUBLISH', channel, name)
end
`

const step = (lua: string) => redisScript(COMMON + lua)

const ask = step(`
local awaited = last
local published = awaited ~= '' and redis.call('GET', outcome)
if published then
  redis.call('ZREM', waiters, me)
  return {'outcome', published}
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
if nobody_waits() then publish() end
`)

const renew = step(`
if not holds() then return 'lost' end
redis.call('PEXPIRE', lock, lease)
local alone = last == 'alone'
if not alone or not nobody_waits() then return 'renewed' end
redis.call('HSET', lock, 'abandoned', '1')
return 'abandoned'
`)

const giveUp = step(`
if not holds() then return end
redis.call('HSET', lock, 'abandoned', '1')
redis.call('SET', outcome, last, 'PX', lease)
publish()
`)

const finish = step(`
if not holds() then return end
local awaited = not nobody_waits()
if awaited and last ~= '' then redis.call('SET', outcome, last, 'PX', lease) end
redis.call('DEL', lock, waiters)
if awaited then publish() end
`)

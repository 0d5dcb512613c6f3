import type { Queue } from 'bullmq'
import type { JobOwner, OpenJobs } from '../../core/ports/jobs.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { countOpen } from './rules.ts'
import { createTurns, SERVED_MOST, type Served, servedFields } from './turns.ts'

/**
 * Turns for one BullMQ queue. BullMQ serves by priority, and groups are not part of its open-source version. A priority
 * computed at enqueue would be unfair: when many IP addresses each add their first job, all these jobs get the first
 * rank, and another client waits behind all of them. So all jobs with an owner have the same priority, which puts them into
 * a sorted set of BullMQ. {@link createTurns} rewrites their scores there whenever a job is added or begins.
 *
 * The order only affects fairness: BullMQ still assigns jobs to workers atomically. A job that returns, deferred or
 * retried, is behind the ordered jobs until the next job begins.
 */
export interface BullTurns {
  /** Counts the job for its owner from now on. Call it after the job was added. */
  added(jobId: string, owner: JobOwner): Promise<void>
  /**
   * Records that a job of this owner has begun. Call it before
   * the job ends, so that the choice of the next job includes it.
   */
  began(owner: JobOwner): Promise<void>
  openOf(owner: JobOwner): Promise<OpenJobs>
}

/** The priority of a job that is not ordered yet. */
export const UNORDERED_PRIORITY = 2
// The scores of ordered jobs are below those of BullMQ's own formula, so they come before all others.
const ORDERED_FROM = 2 ** 32

// Longer than any job waits. After this, the data of clients that add no more jobs expires.
const RETENTION_MS = 7 * 24 * 3_600_000

/** Returns the number of this call, the waiting jobs in their order, the name of each, and who was served. */
const LOOK = `
  local ids = redis.call('ZRANGE', KEYS[1], 0, -1)
  local names = {}
  for i, id in ipairs(ids) do names[i] = redis.call('HGET', ARGV[1] .. id, 'name') or '' end
  return { redis.call('INCR', KEYS[3]), ids, names, redis.call('HGETALL', KEYS[2]) }`

/** `noteServed` in one step for all processes. The last argument is empty for a trusted caller. */
const NOTE_SERVED = `
  if redis.call('HLEN', KEYS[1]) > tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
  local clock = redis.call('HINCRBY', KEYS[1], ARGV[3], 1)
  redis.call('HSET', KEYS[1], ARGV[4], clock)
  if ARGV[6] == '' then
    redis.call('HINCRBY', KEYS[1], ARGV[5], 1)
  else
    redis.call('HSET', KEYS[1], ARGV[5], 0, ARGV[6], clock)
  end
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])`

/** Orders the jobs that still wait, unless another process has called LOOK since: its view is newer, and it will order them. */
const ORDER = `
  if redis.call('GET', KEYS[2]) ~= ARGV[1] then return end
  for i = 3, #ARGV do redis.call('ZADD', KEYS[1], 'XX', ARGV[2] + i, ARGV[i]) end`

/** Encodes the owner in the name of a BullMQ job, which is free text and stored with the job. */
export function nameOfOwner({ client, stranger }: JobOwner): string {
  return JSON.stringify([client, ...(stranger === undefined ? [] : [stranger])])
}

/** Decodes the owner from the name of a job. @returns undefined for the name of a job without an owner */
export function ownerOfName(name: string): JobOwner | undefined {
  if (!name.startsWith('[')) return undefined
  const [client, stranger] = JSON.parse(name)
  return { client, ...(stranger === undefined ? {} : { stranger }) }
}

/** Turns of one queue. All processes on the same Redis share them. */
export function bullTurns(queue: Queue, redis: RedisConnection): BullTurns {
  const waiting = queue.toKey('prioritized')
  const served = queue.toKey('served')
  const look = queue.toKey('served-look')
  const openKey = ({ client }: JobOwner) => queue.toKey(`open-of:${client}`)

  async function order(): Promise<void> {
    const [number, ids, names, fields] = (await redis.send((client) =>
      client.eval(LOOK, 3, waiting, served, look, queue.toKey('')),
    )) as [number, string[], string[], string[]]
    if (ids.length < 2) return
    const turns = createTurns<string>(servedOf(fields))
    for (const [i, id] of ids.entries()) turns.add(id, ownerOfName(names[i] ?? '') ?? { client: '' })
    const ordered: string[] = []
    for (let id = turns.take(); id !== undefined; id = turns.take()) ordered.push(id)
    // Lua takes at most 8000 arguments. The other jobs are ordered when some of these have begun.
    const first = ordered.slice(0, 5000)
    await redis.send((client) => client.eval(ORDER, 2, waiting, look, number, ORDERED_FROM, ...first))
  }

  return {
    async added(jobId, owner) {
      const open = openKey(owner)
      await redis.send((client) =>
        Promise.all([client.hset(open, jobId, owner.stranger ?? ''), client.pexpire(open, RETENTION_MS)]),
      )
      await order()
    },

    async began(owner) {
      const address = owner.stranger === undefined ? '' : servedFields.address(owner)
      const fields = [
        servedFields.clock,
        servedFields.client(owner),
        servedFields.trustedInARow(owner),
        address,
      ]
      await redis.send((client) =>
        client.eval(NOTE_SERVED, 2, served, look, SERVED_MOST, RETENTION_MS, ...fields),
      )
      await order()
    },

    async openOf(owner) {
      const open = openKey(owner)
      const jobs = Object.entries(await redis.send((client) => client.hgetall(open)))
      const states = await redis.send(() => Promise.all(jobs.map(([id]) => queue.getJobState(id))))
      const hasEnded = (i: number) => ['completed', 'failed', 'unknown'].includes(states[i] ?? 'unknown')
      const ended = jobs.filter((_, i) => hasEnded(i)).map(([id]) => id)
      if (ended.length > 0) await redis.send((client) => client.hdel(open, ...ended))
      const strangers = jobs.filter((_, i) => !hasEnded(i)).map(([, stranger]) => stranger || undefined)
      return countOpen(strangers, owner)
    },
  }
}

/** @param fields a hash in the format of Lua: field, value, field, value, … */
function servedOf(fields: readonly string[]): Served {
  const served: Served = new Map()
  for (let i = 0; i < fields.length; i += 2) served.set(String(fields[i]), Number(fields[i + 1]))
  return served
}

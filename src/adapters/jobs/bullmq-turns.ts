import type { Queue } from 'bullmq'
import type { JobOwner, OpenJobs } from '../../core/ports/jobs.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { countOpen } from './rules.ts'
import { createTurns, SERVED_MOST, type Served, servedFields } from './turns.ts'

/**
 * Turns for one BullMQ queue. BullMQ serves by priority, and groups are not part of its open version. A priority computed
 * once at enqueue would be unfair: when many addresses ask, each for its first job, all of these get the first rank, and
 * another client waits behind all of them. So the jobs with an owner all have one priority, which keeps them in BullMQ's
 * sorted set, and their scores in it are rewritten by {@link createTurns} whenever one is added or begins.
 *
 * The order is a matter of fairness alone: BullMQ still decides atomically who gets a job. A job that comes back, put off
 * or tried again, is behind those that are ordered until the next one begins.
 */
export interface BullTurns {
  /** Whose jobs are counted from now on. Once the job has been added. */
  added(jobId: string, owner: JobOwner): Promise<void>
  /** Notes that a job of this owner has begun. Before the job ends, so that the next one is chosen by it. */
  began(owner: JobOwner): Promise<void>
  openOf(owner: JobOwner): Promise<OpenJobs>
}

/** Of a job that has yet to be ordered. */
export const UNORDERED_PRIORITY = 2
// BullMQ's own formula for scores: jobs that are ordered come before all that are not.
const ORDERED_FROM = 2 ** 32

// Longer than any job waits: nothing is left of clients that add no more.
const KEPT_MS = 7 * 24 * 3_600_000

/** The waiting jobs in their order, the name of each, who was served, and a number for this look. */
const LOOK = `
  local ids = redis.call('ZRANGE', KEYS[1], 0, -1)
  local names = {}
  for i, id in ipairs(ids) do names[i] = redis.call('HGET', ARGV[1] .. id, 'name') or '' end
  return { redis.call('INCR', KEYS[3]), ids, names, redis.call('HGETALL', KEYS[2]) }`

/** What `noteServed` does, in one step for all processes. The last argument is empty for a trusted caller. */
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

/** Orders those that still wait, unless another process has looked since: it has seen more, and will order them. */
const ORDER = `
  if redis.call('GET', KEYS[2]) ~= ARGV[1] then return end
  for i = 3, #ARGV do redis.call('ZADD', KEYS[1], 'XX', ARGV[2] + i, ARGV[i]) end`

/** The name of a BullMQ job is free text that is stored with it, and says here for whom it is done. */
export function nameOfOwner({ client, stranger }: JobOwner): string {
  return JSON.stringify([client, ...(stranger === undefined ? [] : [stranger])])
}

/** @returns undefined for the name of a job without an owner */
export function ownerOfName(name: string): JobOwner | undefined {
  if (!name.startsWith('[')) return undefined
  const [client, stranger] = JSON.parse(name)
  return { client, ...(stranger === undefined ? {} : { stranger }) }
}

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
    // Lua takes 8000 arguments at a time; what is behind them is ordered when some of these have begun.
    const first = ordered.slice(0, 5000)
    await redis.send((client) => client.eval(ORDER, 2, waiting, look, number, ORDERED_FROM, ...first))
  }

  return {
    async added(jobId, owner) {
      const open = openKey(owner)
      await redis.send((client) =>
        Promise.all([client.hset(open, jobId, owner.stranger ?? ''), client.pexpire(open, KEPT_MS)]),
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
      await redis.send((client) => client.eval(NOTE_SERVED, 2, served, look, SERVED_MOST, KEPT_MS, ...fields))
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

/** @param fields a hash as Lua has it: field, value, field, value, … */
function servedOf(fields: readonly string[]): Served {
  const served: Served = new Map()
  for (let i = 0; i < fields.length; i += 2) served.set(String(fields[i]), Number(fields[i + 1]))
  return served
}

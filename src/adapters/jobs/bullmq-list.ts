import type { Job as BullJob, Queue } from 'bullmq'
import type { FoundJob, JobQuery, ListedJob } from '../../core/ports/jobs.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { type BullData, removalKey } from './bullmq-data.ts'

/** A job as Redis has it, with its status; undefined when it does not exist, or ended too long ago. */
export type ReadBullJob = (
  queue: Queue<BullData>,
  jobId: string,
) => Promise<{ job: BullJob<BullData>; status: ListedJob['status'] } | undefined>

// The list of a client has its last jobs.
const LISTED_MOST = 10_000
const CHUNK = 100
// Longer than the longest attempt that follows a request for a removal.
const REMOVAL_MS = 10 * 60_000

/** Adds a job to the list of its client, at the time of its creation, and removes the oldest ones. */
const NOTE = `
  local at = redis.call('HGET', KEYS[1], 'timestamp')
  if not at then return end
  redis.call('ZADD', KEYS[2], at, ARGV[1])
  redis.call('ZREMRANGEBYRANK', KEYS[2], 0, -1 - ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[3])`

/** Returns a page of IDs, and whether more follow. Without a former last job in the list, its time decides. */
const PAGE = `
  local from = 0
  if ARGV[1] ~= '' then
    local rank = redis.call('ZREVRANK', KEYS[1], ARGV[1])
    from = rank and rank + 1 or redis.call('ZCOUNT', KEYS[1], '(' .. ARGV[2], '+inf')
  end
  from = from + ARGV[3]
  return redis.call('ZREVRANGE', KEYS[1], from, from + ARGV[4] - 1)`

const listKey = (queue: Queue, client: string) => queue.toKey(`list-of:${client}`)

/** Lists a job of a client from now on. Call it after the job was added. @param keepMs how long jobs are retained */
export async function noteInList(
  { redis, queue, keepMs }: { redis: RedisConnection; queue: Queue<BullData>; keepMs: number },
  { jobId, client }: { jobId: string; client: string },
): Promise<void> {
  const keys = [queue.toKey(jobId), listKey(queue, client)]
  await redis.send((connection) =>
    connection.eval(NOTE, keys.length, ...keys, jobId, LISTED_MOST, 2 * keepMs),
  )
}

/** See `Jobs.list`. @param after the ID of the last job of the previous page, and its time */
export async function listJobs(
  { redis, queue, read }: { redis: RedisConnection; queue: Queue<BullData>; read: ReadBullJob },
  { kind, client, state, limit }: JobQuery,
  after: { jobId: string; createdAt: number } | undefined,
): Promise<ListedJob[]> {
  const key = listKey(queue, client)
  const jobs: ListedJob[] = []
  const forgotten: string[] = []
  for (let skipped = 0; jobs.length < limit; skipped += CHUNK) {
    const ids = (await redis.send((connection) =>
      connection.eval(PAGE, 1, key, after?.jobId ?? '', after?.createdAt ?? '', skipped, CHUNK),
    )) as string[]
    const found = await Promise.all(ids.map((id) => read(queue, id)))
    for (const [i, one] of found.entries()) {
      if (!one) forgotten.push(ids[i] as string)
      else if (state === undefined || one.status.state === state) jobs.push(listed(kind, one))
    }
    if (ids.length < CHUNK) break
  }
  if (forgotten.length > 0) await redis.send((connection) => connection.zrem(key, ...forgotten))
  return jobs.slice(0, limit)
}

/** See `Jobs.remove`. */
export async function removeJob(
  { redis, queue, read }: { redis: RedisConnection; queue: Queue<BullData>; read: ReadBullJob },
  { kind, jobId }: { kind: string; jobId: string },
): Promise<FoundJob | undefined> {
  for (;;) {
    const found = await read(queue, jobId)
    // BullMQ removes no job that a worker has.
    if (await redis.send(() => queue.remove(jobId))) return found && withData(kind, found)
    const running = await read(queue, jobId)
    if (running?.status.state !== 'running') continue
    const mark = removalKey((name) => queue.toKey(name), jobId, running.job.timestamp)
    await redis.send((connection) => connection.set(mark, '1', 'PX', REMOVAL_MS))
    return withData(kind, running)
  }
}

type Read = NonNullable<Awaited<ReturnType<ReadBullJob>>>

function listed(kind: string, { job, status }: Read): ListedJob {
  const hasEnded = status.state === 'done' || status.state === 'failed'
  return {
    kind,
    id: job.data.id,
    status,
    createdAt: job.timestamp,
    ...(hasEnded && job.finishedOn !== undefined ? { endedAt: job.finishedOn } : {}),
  }
}

/** A job with its data. */
export function withData(kind: string, found: Read): FoundJob {
  return { ...listed(kind, found), data: found.job.data.data }
}

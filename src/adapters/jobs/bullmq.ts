import { createHash } from 'node:crypto'
import { type Job as BullJob, Queue } from 'bullmq'
import type { Log } from '../../core/log.ts'
import type { JobStatus, Jobs } from '../../core/ports/jobs.ts'
import { unavailable } from '../../core/problem.ts'
import type { RedisConnection } from '../redis/connection.ts'
import type { BullData, BullEnd, BullProgress } from './bullmq-data.ts'
import { listJobs, noteInList, type ReadBullJob, removeJob, withData } from './bullmq-list.ts'
import { type BullTurns, bullTurns, nameOfOwner, UNORDERED_PRIORITY } from './bullmq-turns.ts'
import { type BullWorker, startWorker } from './bullmq-worker.ts'
import { checkJob, checkKind, failureOf, RETENTION, type Retention } from './rules.ts'

export interface BullmqJobsOptions {
  /** For commands. It remains open. Workers open two connections of their own to the same server. */
  redis: RedisConnection
  /** Prefix of all keys. */
  keyPrefix: string
  log: Log
  keep?: Retention
  /** Whether this user of Redis may call INFO. Default: true. Without it, delayed jobs begin up to a second late. */
  mayCallInfo?: boolean
  /** Maximum delay, in milliseconds, until another worker takes over the jobs of a dead one. */
  takeOverMs?: number
}

// The workers of a kind decide how often and when its jobs are retried. The log has the errors.
const JOB_OPTIONS = { attempts: 1_000_000, backoff: { type: 'custom' }, stackTraceLimit: 0 }

/**
 * Removes a job that is done, or that failed before a time, so that it can be added again. The check of the
 * state and the removal are one atomic step, so a waiting or running job is never removed.
 */
const FORGET_ENDED = `
  local done = redis.call('ZSCORE', KEYS[1], ARGV[1])
  local failed = redis.call('ZSCORE', KEYS[2], ARGV[1])
  if done or (failed and tonumber(failed) <= tonumber(ARGV[2])) then
    redis.call('ZREM', KEYS[1], ARGV[1])
    redis.call('ZREM', KEYS[2], ARGV[1])
    redis.call('DEL', KEYS[3])
  end`

/**
 * Jobs on BullMQ: one queue per kind, for any number of processes. They are as durable as this Redis is.
 *
 * @see https://docs.bullmq.io
 */
export function bullmqJobs({
  redis,
  keyPrefix,
  log,
  keep = RETENTION,
  mayCallInfo = true,
  takeOverMs = 30_000,
}: BullmqJobsOptions): Jobs {
  const prefix = `${keyPrefix}jobs`
  const queues = new Map<string, Queue<BullData>>()
  const turns = new Map<string, BullTurns>()
  const workers = new Map<string, BullWorker>()
  let paused = false
  let closed = false
  let closing: Promise<void> | undefined

  function queueOf(kind: string): Queue<BullData> {
    checkKind(kind)
    if (closed) throw unavailable('The process is stopping.')
    let queue = queues.get(kind)
    if (!queue) {
      queue = new Queue<BullData>(kind, {
        connection: redis.client,
        prefix,
        // The queue may be created while Redis is down: waiting for the connection here could take forever.
        skipVersionCheck: true,
        skipWaitingForReady: true,
        // No process reads the events.
        streams: { events: { maxLen: 100 } },
      })
      // The connection logs the error itself.
      queue.on('error', () => {})
      queues.set(kind, queue)
    }
    return queue
  }

  function turnsOf(kind: string): BullTurns {
    const known = turns.get(kind) ?? bullTurns(queueOf(kind), redis)
    turns.set(kind, known)
    return known
  }

  const read: ReadBullJob = async (queue, jobId) => {
    for (;;) {
      const [before, job, after] = await redis.send(() =>
        Promise.all([queue.getJobState(jobId), queue.getJob(jobId), queue.getJobState(jobId)]),
      )
      // The state is read before and after the job: a job that changed its state in between is read again.
      if (before !== after) continue
      const status = job && statusOf(job, before, keep)
      return job && status && { job, status }
    }
  }

  function pause(): void {
    paused = true
    for (const worker of workers.values()) worker.pause()
  }

  return {
    async enqueue({ kind, id, data, delayMs = 0, owner, again = false }) {
      checkJob({ kind, id, data, delayMs })
      const queue = queueOf(kind)
      const jobId = jobIdOf(id)
      const failedBefore = again ? Number.MAX_SAFE_INTEGER : Date.now() - keep.failedMs
      const keys = ['completed', 'failed', jobId].map((name) => queue.toKey(name))
      await redis.send((client) =>
        // Both are sent, in this order, before the first response arrives.
        Promise.all([
          client.eval(FORGET_ENDED, keys.length, ...keys, jobId, failedBefore),
          queue.add(
            owner ? nameOfOwner(owner) : kind,
            { id, data },
            {
              ...JOB_OPTIONS,
              jobId,
              delay: Math.ceil(delayMs),
              ...(owner ? { priority: UNORDERED_PRIORITY } : {}),
            },
          ),
        ]),
      )
      if (!owner) return
      await turnsOf(kind).added(jobId, owner)
      const listing = { redis, queue, keepMs: Math.max(keep.failedMs, keep.doneMs) }
      await noteInList(listing, { jobId, client: owner.client })
    },

    async openOf(kind, owner) {
      queueOf(kind)
      return turnsOf(kind).openOf(owner)
    },

    async counts(kind) {
      const queue = queueOf(kind)
      const counts = await redis.send(() => queue.getJobCounts('waiting', 'prioritized', 'delayed', 'active'))
      const { waiting = 0, prioritized = 0, delayed = 0, active = 0 } = counts
      return { waiting: waiting + prioritized + delayed, running: active }
    },

    status: async ({ kind, id }) => (await read(queueOf(kind), jobIdOf(id)))?.status,

    async find({ kind, id }) {
      const found = await read(queueOf(kind), jobIdOf(id))
      return found && withData(kind, found)
    },

    async list(query) {
      const queue = queueOf(query.kind)
      const { after } = query
      const place = after && { jobId: jobIdOf(after.id), createdAt: after.createdAt }
      return listJobs({ redis, queue, read }, query, place)
    },

    async remove({ kind, id }) {
      return removeJob({ redis, queue: queueOf(kind), read }, { kind, jobId: jobIdOf(id) })
    },

    work(kind, handler, work) {
      checkKind(kind)
      if (workers.has(kind)) throw new Error(`jobs of the kind ${kind} already have a handler`)
      // Every worker has to be closed, so a worker that may begin no job is not created at all.
      if (paused) return
      workers.set(
        kind,
        startWorker(kind, handler, {
          redis,
          prefix,
          log,
          keep,
          mayCallInfo,
          takeOverMs,
          work,
          turns: turnsOf(kind),
        }),
      )
    },

    pause,
    close({ graceMs }) {
      closing ??= (async () => {
        pause()
        await Promise.all([...workers.values()].map((worker) => worker.close(graceMs)))
        closed = true
        await Promise.all([...queues.values()].map((queue) => queue.close()))
      })()
      return closing
    },
  }
}

/** Job IDs of BullMQ must not be numbers or contain a colon. */
function jobIdOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url')
}

function statusOf(job: BullJob<BullData>, state: string, keep: Retention): JobStatus | undefined {
  const attempts = job.attemptsMade + job.stalledCounter
  const isOver = (ms: number) => (job.finishedOn ?? 0) + ms <= Date.now()
  switch (state) {
    case 'unknown':
      return undefined
    case 'completed':
      return isOver(keep.doneMs) ? undefined : { state: 'done', attempts, progress: 1 }
    case 'failed':
      if (isOver(keep.failedMs)) return undefined
      return { state: 'failed', progress: 0, ...endOf(job.failedReason, attempts) }
    case 'active':
      return { state: 'running', attempts: attempts + 1, progress: progressOf(job) }
    default:
      return { state: 'waiting', attempts, progress: 0 }
  }
}

function progressOf({ progress, attemptsStarted }: BullJob<BullData>): number {
  const { run, fraction } = progress as Partial<BullProgress>
  return run === attemptsStarted ? (fraction ?? 0) : 0
}

/** The result that our worker stored, or a general one for a job that BullMQ itself has failed. */
function endOf(failedReason: string, attempts: number): BullEnd {
  try {
    const { failure, attempts } = JSON.parse(failedReason)
    return { failure, attempts }
  } catch {
    return { failure: failureOf(undefined), attempts }
  }
}

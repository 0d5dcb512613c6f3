import { setTimeout as pause } from 'node:timers/promises'
import {
  type Job as BullJob,
  type ConnectionOptions,
  DelayedError,
  type IRedisClient,
  UnrecoverableError,
  WaitingError,
  Worker,
} from 'bullmq'
import type { RedisOptions } from 'ioredis'
import { throttled } from '../../core/async/throttle-log.ts'
import type { Log } from '../../core/log.ts'
import type { Job, JobFailure, JobHandler, WorkOptions } from '../../core/ports/jobs.ts'
import type { RedisConnection } from '../redis/connection.ts'
import { type Outcome, runAttempt } from './attempt.ts'
import { type BullTurns, ownerOfName } from './bullmq-turns.ts'
import { createLease, type Lease } from './lease.ts'
import type { Retention } from './rules.ts'

/** What stands in Redis for one job. */
export interface BullData {
  id: string
  data: unknown
}

/** A run is one start of the job, also of those that do not count as attempts: what an earlier one told is void. */
export interface BullProgress {
  run: number
  fraction: number
}

/** What stands there, as JSON, as the reason of a job that has failed for good. */
export interface BullEnd {
  attempts: number
  failure: JobFailure
}

export interface BullWorkerOptions {
  redis: RedisConnection
  prefix: string
  log: Log
  keep: Retention
  takeOverMs: number
  work: WorkOptions
  turns: BullTurns
}

/** Does the jobs of one kind. */
export interface BullWorker {
  /** Begins no more jobs. */
  pause(): void
  /** Aborts and puts back what still runs after `graceMs`; then closes its connections, whether Redis answers or not. */
  close(graceMs: number): Promise<void>
}

// BullMQ waits for jobs for up to 10 s at a time and takes a second more to see that no answer comes.
const SILENCE_MS = 12_000
// What Redis may take for the last words of a worker.
const FAREWELL_MS = 2000

/** Does jobs of this kind from now on, `work.concurrency` at a time in this process. */
export function startWorker<T>(
  kind: string,
  handler: JobHandler<T>,
  { redis, prefix, log, keep, takeOverMs, work, turns }: BullWorkerOptions,
): BullWorker {
  // A dead worker's lock runs out within the first half; a look that comes in the second finds it and acts.
  const lockDuration = Math.ceil(takeOverMs / 2)
  const stalledInterval = Math.ceil(takeOverMs / 4)
  const leases = new Map<string, Lease>()
  const running = new Set<Promise<void>>()
  const report = throttled((error) => log.warn({ err: error, kind }, 'the worker has a Redis error'))
  let paused = false
  let leaving = false

  const worker = new Worker<BullData>(
    kind,
    (bull, token) => {
      const ended = run(bull, token).finally(() => running.delete(ended))
      running.add(ended)
      return ended
    },
    {
      connection: patiently(redis.client.options, () => leaving),
      prefix,
      concurrency: work.concurrency,
      lockDuration,
      stalledInterval,
      // After a lost connection. BullMQ's own 15 s cannot be cut short, not even by the end of the process.
      runRetryDelay: 1000,
      // Attempts are counted by us, those that ended with their process among them.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      settings: { backoffStrategy: (_attempts, _type, error) => (error as Again).delayMs },
      removeOnComplete: { age: keep.doneMs / 1000, count: keep.doneCount },
      removeOnFail: { age: keep.failedMs / 1000, count: keep.failedCount },
    },
  )
  worker.on('error', report)
  worker.on('locksRenewed', ({ jobIds }) => {
    for (const id of jobIds) leases.get(id)?.renew()
  })
  worker.on('lockRenewalFailed', (jobIds) => {
    for (const id of jobIds) leases.get(id)?.lose('another worker may have this job')
  })

  /** One attempt. What it throws tells BullMQ what becomes of the job. */
  async function run(bull: BullJob<BullData>, token: string | undefined): Promise<void> {
    const id = String(bull.id)
    // It ends before the lock does, so that the handler has stopped when another worker may begin.
    const lease = createLease(lockDuration * 0.8)
    leases.set(id, lease)
    const tell = (fraction: number) => {
      const progress: BullProgress = { run: bull.attemptsStarted, fraction }
      void bull.updateProgress(progress).catch(report)
    }
    const owner = ownerOfName(bull.name)
    if (owner) await within(FAREWELL_MS, turns.began(owner).catch(report))
    const attempt = bull.attemptsMade + bull.stalledCounter + 1
    const job = { kind, id: bull.data.id, data: bull.data.data, attempt } as Job<T>
    // A worker that is told to pause while it waits for a job takes one more.
    if (paused) lease.lose('the process is stopping')
    const outcome = await runAttempt(job, handler, { work, stop: lease.signal, onProgress: tell, log })
    lease.end()
    // Lost and taken up again here, the job has another lease by now.
    if (leases.get(id) === lease) leases.delete(id)
    // In vain when the lock is lost: then whoever holds it now does the job.
    if (outcome.next === 'putBack') await within(FAREWELL_MS, bull.moveToWait(token).catch(report))
    if (outcome.next === 'toDeferral') {
      await within(FAREWELL_MS, bull.moveToDelayed(Date.now() + outcome.delayMs, token).catch(report))
    }
    const error = errorFor(outcome, Math.min(attempt, work.attempts))
    if (error) throw error
  }

  function beginNoMore(): void {
    paused = true
    void worker.pause(true)
  }

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running)
  }

  return {
    pause: beginNoMore,
    async close(graceMs) {
      beginNoMore()
      await within(graceMs, idle())
      for (const lease of leases.values()) lease.lose('the process is stopping')
      await idle()
      // From here on a connection that is lost stays lost. BullMQ has no time limits of its own, and one that is told
      // to close while it is about to connect again never does.
      leaving = true
      const { client, blockingClient } = worker.getBackend()
      await within(FAREWELL_MS, Promise.all([client, blockingClient].map(settled)))
      const closed = worker.close()
      await within(FAREWELL_MS, closed)
      void worker.disconnect().catch(() => {})
      await within(FAREWELL_MS, closed)
    },
  }
}

type Again = Error & { delayMs: number }

function errorFor(outcome: Outcome, attempts: number): Error | undefined {
  switch (outcome.next) {
    case 'done':
      return undefined
    case 'retry':
      return Object.assign(new Error('the job will be retried'), { delayMs: outcome.delayMs })
    case 'failed':
      return new UnrecoverableError(JSON.stringify({ attempts, failure: outcome.failure } satisfies BullEnd))
    case 'putBack':
      return new WaitingError()
    case 'toDeferral':
      return new DelayedError()
  }
}

/** To the same place, but with commands that outlast an outage, as BullMQ needs it; not when it `isLeaving` anyway. */
function patiently(options: RedisOptions, isLeaving: () => boolean): ConnectionOptions {
  return {
    ...options,
    enableOfflineQueue: true,
    autoResendUnfulfilledCommands: true,
    maxRetriesPerRequest: null,
    commandTimeout: undefined,
    socketTimeout: SILENCE_MS,
    retryStrategy: (times: number) => (isLeaving() ? null : options.retryStrategy?.(times)),
  } as ConnectionOptions
}

/** Resolves when the connection stands, or will never stand again. */
async function settled(connecting: Promise<IRedisClient> | undefined): Promise<void> {
  const client = await connecting?.catch(() => undefined)
  while (client && client.status !== 'ready' && client.status !== 'end') await pause(20)
}

/** Waits for `work`, at most for `ms`. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  const over = pause(ms, undefined, { signal: timer.signal }).catch(() => {})
  await Promise.race([work, over])
  timer.abort()
}

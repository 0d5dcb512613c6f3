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
import { every } from '../../core/async/every.ts'
import { throttled } from '../../core/async/throttle-log.ts'
import type { Log } from '../../core/log.ts'
import type { Job, JobHandler, WorkOptions } from '../../core/ports/jobs.ts'
import { type RedisConnection, withoutArguments } from '../redis/connection.ts'
import { type Outcome, runAttempt } from './attempt.ts'
import { type BullData, type BullEnd, type BullProgress, removalKey } from './bullmq-data.ts'
import { type BullTurns, ownerOfName } from './bullmq-turns.ts'
import { createLease, type Lease } from './lease.ts'
import type { Retention } from './rules.ts'

export interface BullWorkerOptions {
  redis: RedisConnection
  prefix: string
  log: Log
  keep: Retention
  mayCallInfo: boolean
  takeOverMs: number
  work: WorkOptions
  turns: BullTurns
}

/** The worker for the jobs of one kind. */
export interface BullWorker {
  /** Begins no more jobs. */
  pause(): void
  /**
   * Waits `graceMs` for running jobs, then aborts them and puts them
   * back. Closes its connections, whether Redis responds or not.
   */
  close(graceMs: number): Promise<void>
}

// BullMQ waits for jobs for up to 10 s at a time, and takes one more second to notice that no response comes.
const SILENCE_MS = 12_000
// Time limit for commands to Redis that must not delay the worker.
const COMMAND_LIMIT_MS = 2000

// One command for each running job.
const REMOVAL_LOOK_MS = 1000
// Time for a removal that fails in between, for example because Redis is down: then the job begins again.
const REMOVED_AFTER_MS = 60_000

/** Starts a worker, with `work.concurrency` concurrent jobs in this process. */
export function startWorker<T>(
  kind: string,
  handler: JobHandler<T>,
  { redis, prefix, log, keep, mayCallInfo, takeOverMs, work, turns }: BullWorkerOptions,
): BullWorker {
  // The lock of a dead worker expires within the first half. The next check, within the second half, takes over its jobs.
  const lockDuration = Math.ceil(takeOverMs / 2)
  const stalledInterval = Math.ceil(takeOverMs / 4)
  const leases = new Map<string, Lease>()
  const running = new Set<Promise<void>>()
  const report = throttled((error: Error) =>
    log.warn({ err: withoutArguments(error), kind }, 'the worker has a Redis error'),
  )
  let paused = false
  let isClosing = false

  const worker = new Worker<BullData>(
    kind,
    (bull, token) => {
      const ended = run(bull, token).finally(() => running.delete(ended))
      running.add(ended)
      return ended
    },
    {
      connection: persistentConnection(redis.client.options, () => isClosing),
      prefix,
      // Where INFO is forbidden, BullMQ would repeat its check of the version forever, and block the process.
      skipVersionCheck: !mayCallInfo,
      concurrency: work.concurrency,
      lockDuration,
      stalledInterval,
      // Delay after a lost connection. BullMQ's default of 15 s cannot be interrupted, not even at the end of the process.
      runRetryDelay: 1000,
      // We count attempts ourselves, including attempts whose process died.
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

  /** Runs one attempt. BullMQ derives the next state of the job from the error that this throws. */
  async function run(bull: BullJob<BullData>, token: string | undefined): Promise<void> {
    const id = String(bull.id)
    // The lease expires before the lock, so that the handler has stopped when another worker may begin.
    const lease = createLease(lockDuration * 0.8)
    leases.set(id, lease)
    const removals = watchRemoval(bull, lease)
    const onProgress = (fraction: number) => {
      const progress: BullProgress = { run: bull.attemptsStarted, fraction }
      void bull.updateProgress(progress).catch(report)
    }
    const owner = ownerOfName(bull.name)
    if (owner) await within(COMMAND_LIMIT_MS, turns.began(owner).catch(report))
    const attempt = bull.attemptsMade + bull.stalledCounter + 1
    const job = { kind, id: bull.data.id, data: bull.data.data, attempt } as Job<T>
    // A worker that is paused while it waits for a job still takes one more.
    if (paused) lease.lose('the process is stopping')
    const outcome = await runAttempt(job, handler, { work, stop: lease.signal, onProgress, log })
    lease.end()
    await within(COMMAND_LIMIT_MS, removals.stop())
    // When this worker lost the job and then took it again, the entry belongs to the new lease.
    if (leases.get(id) === lease) leases.delete(id)
    // This fails when the lock was lost. Then the new holder of the lock does the job.
    if (outcome.next === 'putBack') await within(COMMAND_LIMIT_MS, bull.moveToWait(token).catch(report))
    if (outcome.next === 'toDeferral') {
      await within(COMMAND_LIMIT_MS, bull.moveToDelayed(Date.now() + outcome.delayMs, token).catch(report))
    }
    // BullMQ removes a job only when no worker has it.
    if (outcome.next === 'removed')
      await within(
        COMMAND_LIMIT_MS,
        bull
          .moveToDelayed(Date.now() + REMOVED_AFTER_MS, token)
          .then(() => bull.remove())
          .catch(report),
      )
    const error = errorFor(outcome, Math.min(attempt, work.attempts))
    if (error) throw error
  }

  /** Any process may ask for the removal of a job that runs here. */
  function watchRemoval(bull: BullJob<BullData>, lease: Lease) {
    const key = removalKey((name) => worker.toKey(name), String(bull.id), bull.timestamp)
    return every(REMOVAL_LOOK_MS, async () => {
      const isRemoved = await redis.send((client) => client.exists(key)).catch(() => 0)
      if (isRemoved) lease.remove()
    })
  }

  function pauseWorker(): void {
    paused = true
    void worker.pause(true)
  }

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.allSettled(running)
  }

  return {
    pause: pauseWorker,
    async close(graceMs) {
      pauseWorker()
      await within(graceMs, idle())
      for (const lease of leases.values()) lease.lose('the process is stopping')
      await idle()
      // From here on, a lost connection is not restored. BullMQ has no time limits of its own, and a connection that is
      // closed while it reconnects would never settle.
      isClosing = true
      const { client, blockingClient } = worker.getBackend()
      await within(COMMAND_LIMIT_MS, Promise.all([client, blockingClient].map(settled)))
      const closed = worker.close()
      await within(COMMAND_LIMIT_MS, closed)
      void worker.disconnect().catch(() => {})
      await within(COMMAND_LIMIT_MS, closed)
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
    case 'removed':
      return new DelayedError()
  }
}

/** Connection options for BullMQ, with commands that survive an outage. No reconnects once `isClosing` returns true. */
function persistentConnection(options: RedisOptions, isClosing: () => boolean): ConnectionOptions {
  return {
    ...options,
    enableOfflineQueue: true,
    autoResendUnfulfilledCommands: true,
    maxRetriesPerRequest: null,
    commandTimeout: undefined,
    socketTimeout: SILENCE_MS,
    retryStrategy: (times: number) => (isClosing() ? null : options.retryStrategy?.(times)),
  } as ConnectionOptions
}

/** Resolves when the connection is ready, or has ended permanently. */
async function settled(connecting: Promise<IRedisClient> | undefined): Promise<void> {
  const client = await connecting?.catch(() => undefined)
  while (client && client.status !== 'ready' && client.status !== 'end') await pause(20)
}

/** Waits for `work`, at most for `ms` milliseconds. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const timer = new AbortController()
  const over = pause(ms, undefined, { signal: timer.signal }).catch(() => {})
  await Promise.race([work, over])
  timer.abort()
}

import { Problem, type ProblemJson } from '../problem.ts'

/** The name of a job. An id is unique within its kind. */
export interface JobRef {
  /** The kind of work, for example `webhook`. Lower case letters, digits and dashes. */
  kind: string
  /** Chosen by the caller, for example the key of a derivative. */
  id: string
}

export interface JobRequest extends JobRef {
  /** JSON of at most 128 KiB: names and numbers, never a file. */
  data: unknown
  /** The minimum wait before the first attempt. */
  delayMs?: number
  /** Owners are served in turns. Either all jobs of a kind have an owner, or none has. */
  owner?: JobOwner
  /** Whether a job that has failed permanently begins again. Default: it remains as it is. */
  again?: boolean
}

/** The client and caller that have requested a job. */
export interface JobOwner {
  /** The id of the client. */
  client: string
  /** The IP address of a caller without a secret, as limits count it; absent for a trusted caller. */
  stranger?: string
}

/** The numbers of jobs of a client that wait or run. */
export interface OpenJobs {
  all: number
  /** Jobs of callers without a secret. */
  anonymous: number
  /** Jobs of the same caller without a secret; 0 for a trusted caller. */
  sameAddress: number
}

/**
 * Durable work that may take minutes, is retried after failures, and survives the process that has requested it.
 *
 * A job is delivered at least once. When a process dies, or loses the connection to the queue, after the work and before the job is
 * marked as done, the job runs again. So handlers have to be idempotent.
 */
export interface Jobs {
  /**
   * Adds a job, durably. Changes nothing if a job of this name waits, runs, or has failed permanently. One that is done begins
   * again, and with `again` also one that has failed.
   *
   * @throws Problem 503 when the queue is unavailable; the job may have been added nevertheless
   */
  enqueue(job: JobRequest): Promise<void>
  /**
   * The state of a job; undefined when it does not exist, or ended long ago.
   * @throws Problem 503
   */
  status(job: JobRef): Promise<JobStatus | undefined>
  /**
   * A job with its data; undefined as for `status`, and for a job of a version that did not store this.
   * @throws Problem 503
   */
  find(job: JobRef): Promise<FoundJob | undefined>
  /**
   * The jobs of a client, the newest first. Jobs without an owner are not listed.
   * @throws Problem 503
   */
  list(query: JobQuery): Promise<ListedJob[]>
  /**
   * Removes a job. A waiting one never begins; an ended one is forgotten, so that `enqueue` adds it again. The signal of a
   * running one is aborted with {@link JobRemoved} within seconds; when its handler then throws, the job is removed.
   *
   * @returns the job as it was; undefined when it does not exist
   * @throws Problem 503
   */
  remove(job: JobRef): Promise<FoundJob | undefined>
  /**
   * Counts the jobs of a kind that wait or run for the owner's client.
   * @throws Problem 503
   */
  openOf(kind: string, owner: JobOwner): Promise<OpenJobs>
  /**
   * Counts all jobs of a kind that wait, including delayed ones, and that run, in all processes.
   * @throws Problem 503
   */
  counts(kind: string): Promise<{ waiting: number; running: number }>
  /**
   * Starts to run the jobs of this kind in this process. Jobs without an owner begin in the order in which they are due. Jobs with an
   * owner begin in turns: by client, by trusted or anonymous caller, by IP address. Call it once per kind.
   */
  work<T>(kind: string, handler: JobHandler<T>, options: WorkOptions): void
  /** Begins no more jobs. Running jobs continue, and jobs can still be added. */
  pause(): void
  /**
   * Pauses, and waits for running jobs to end. After `graceMs`, the remaining ones are aborted and returned to the queue. They begin
   * again in another process or after the next start, and this attempt does not count.
   */
  close(options: { graceMs: number }): Promise<void>
}

/**
 * Runs a job, which is done when this resolves. A Problem below 500 is final: the job has failed permanently. A {@link NotYet}
 * defers the job. After any other error the job is retried, until its attempts are used up.
 */
export type JobHandler<T> = (job: Job<T>, run: JobRun) => Promise<unknown>

/** Thrown by a handler that could not begin: the job waits for `delayMs`, and this attempt does not count. */
export class NotYet extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super('the job is put off')
    this.delayMs = delayMs
  }
}

/** The reason of the signal of a running job that was removed. */
export class JobRemoved extends Error {
  constructor() {
    super('the job was removed')
  }
}

/** Whether a job that failed with this error may succeed later. */
export function isRetryable(error: unknown): boolean {
  return !(error instanceof Problem && error.status < 500)
}

export interface Job<T = unknown> extends JobRef {
  /** As passed to `enqueue`. */
  data: T
  /** From 1. Attempts whose process died count. */
  attempt: number
}

export interface JobRun {
  /**
   * Aborted at the time limit of the attempt, when the job is returned to the queue, and when another process may have taken it over.
   * Then the handler has to end within seconds, or the job may run twice at the same time. Its error is ignored.
   */
  signal: AbortSignal
  /** Sets the progress of this attempt, from 0 to 1. It is rounded to hundredths. */
  progress(fraction: number): void
  /** The wait before the next attempt if this one fails, in milliseconds; undefined for the last attempt. */
  retryInMs: number | undefined
}

/** Times are in milliseconds since 1970. */
export interface ListedJob extends JobRef {
  status: JobStatus
  createdAt: number
  /** Absent for a job that waits or runs. */
  endedAt?: number
}

/** A job with its data, as passed to `enqueue`. */
export type FoundJob = ListedJob & { data: unknown }

/** A page of a list of jobs. */
export interface JobQuery {
  kind: string
  /** The id of the client that owns the jobs. */
  client: string
  /** Only jobs in this state; absent: all. */
  state?: JobStatus['state'] | undefined
  /** Only jobs after this one in the list: the last one of the previous page. */
  after?: Pick<ListedJob, 'id' | 'createdAt'> | undefined
  /** The maximum number of jobs. */
  limit: number
}

export interface WorkOptions {
  /** The number of jobs of this kind that this process runs at the same time. */
  concurrency: number
  /** The time limit of one attempt. */
  limitMs: number
  /** The maximum of attempts, from 1. */
  attempts: number
  /**
   * The wait before the second attempt, doubled for each further one. Every wait is shortened by up to a half at random, so that jobs
   * that failed together are not retried together.
   */
  retryMs: number
  /** The longest wait. */
  retryMaxMs: number
}

export type JobStatus =
  | ({ state: 'waiting' | 'running' | 'done' } & JobCounts)
  | ({ state: 'failed'; failure: JobFailure } & JobCounts)

interface JobCounts {
  /** The number of attempts that have begun. */
  attempts: number
  /** The progress of the running attempt; 1 when the job is done, else 0. */
  progress: number
}

/** Why a job has failed permanently: the public part of a Problem. Headers are for responses only. */
export type JobFailure = Omit<ProblemJson, 'headers'>

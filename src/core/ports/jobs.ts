import { Problem, type ProblemJson } from '../problem.ts'

/** Names a job: an id is unique within its kind. */
export interface JobRef {
  /** What is to be done: `webhook`. Lower case letters, digits and dashes. */
  kind: string
  /** Whatever the caller knows the job by: a derivative's key. */
  id: string
}

export interface JobRequest extends JobRef {
  /** JSON of at most 64 KiB: names and numbers, never a file. */
  data: unknown
  /** How long its first attempt waits at least. */
  delayMs?: number
  /** For whom it is done. Jobs with an owner are served in turns. All jobs of a kind have one, or none has. */
  owner?: JobOwner
}

/** For whom a job is done. */
export interface JobOwner {
  /** The client's id. */
  client: string
  /** The address of a caller without a secret, as limits count it; absent for a trusted caller. */
  stranger?: string
}

/** Jobs of a client that wait or run. */
export interface OpenJobs {
  all: number
  /** Those of strangers. */
  strangers: number
  /** Those of the stranger that was given; 0 for a trusted caller. */
  sameStranger: number
}

/**
 * Work that may take minutes, may have to be tried again, and outlives the process that asked for it.
 *
 * A job is delivered at least once: when a process dies, or loses sight of where the jobs are kept, between the work
 * and the note that it is done, the job runs again. So a handler has to bear running twice for one job.
 */
export interface Jobs {
  /**
   * Adds a job, durably, unless one of its name waits, runs, or has failed for good: then that one stays as it is. One
   * that is done begins anew.
   *
   * @throws Problem 503 when jobs cannot be kept at the moment; this one may have been added all the same
   */
  enqueue(job: JobRequest): Promise<void>
  /**
   * What is known of a job; undefined when there is none, or it ended long ago.
   * @throws Problem 503
   */
  status(job: JobRef): Promise<JobStatus | undefined>
  /**
   * Counts the jobs of a kind that wait or run for the owner's client.
   * @throws Problem 503
   */
  openOf(kind: string, owner: JobOwner): Promise<OpenJobs>
  /**
   * Counts all jobs of a kind that wait, for their time as well, and that run: in all processes.
   * @throws Problem 503
   */
  counts(kind: string): Promise<{ waiting: number; running: number }>
  /**
   * From now on does the jobs of this kind in this process. Those without an owner begin in the order in which they are due,
   * those with one in turns: of clients, of trusted callers and strangers, of addresses. Once per kind.
   */
  work<T>(kind: string, handler: JobHandler<T>, options: WorkOptions): void
  /** Begins no more jobs, for good; those that run go on, and others may be added. */
  pause(): void
  /**
   * Pauses, and waits for running jobs to end. After `graceMs` it aborts those that are left and puts them back: they
   * begin anew, elsewhere or after the next start, and this attempt has not counted.
   */
  close(options: { graceMs: number }): Promise<void>
}

/**
 * Does a job. It is done when this resolves. A Problem below 500 is final: the job cannot succeed, and that is
 * remembered. A {@link NotYet} puts the job off. Any other failure may pass: the job is tried again, until its attempts
 * are used up.
 */
export type JobHandler<T> = (job: Job<T>, run: JobRun) => Promise<unknown>

/** What a handler throws that could not begin: the job waits for `delayMs`, and this attempt has not counted. */
export class NotYet extends Error {
  readonly delayMs: number

  constructor(delayMs: number) {
    super('the job is put off')
    this.delayMs = delayMs
  }
}

/** Whether a job that failed like this may succeed another time. */
export function mayPass(error: unknown): boolean {
  return !(error instanceof Problem && error.status < 500)
}

export interface Job<T = unknown> extends JobRef {
  /** As it was given to `enqueue`. */
  data: T
  /** From 1. Those that ended with the death of their process count. */
  attempt: number
}

export interface JobRun {
  /**
   * Aborted when the attempt's time is over, when the job is put back, and when another process may have taken it over.
   * The handler then has to end within seconds, or the job may run twice at the same time; what it throws means nothing.
   */
  signal: AbortSignal
  /** Tells how much is done, from 0 to 1; kept to the hundredth, and not beyond this attempt. */
  progress(fraction: number): void
}

export interface WorkOptions {
  /** Jobs of this kind at a time in this process. */
  concurrency: number
  /** What one attempt may take. */
  limitMs: number
  /** Attempts in all, from 1. */
  attempts: number
  /**
   * The wait before the second attempt, doubled for each further one. Every wait is cut by up to a half at random:
   * what has failed together shall not come back together.
   */
  retryMs: number
  /** The longest wait. */
  retryMaxMs: number
}

export type JobStatus =
  | ({ state: 'waiting' | 'running' | 'done' } & JobCounts)
  | ({ state: 'failed'; failure: JobFailure } & JobCounts)

interface JobCounts {
  /** Begun so far, the running one included. */
  attempts: number
  /** Of the running attempt, as it has told; 1 when the job is done, else 0. */
  progress: number
}

/** Why a job failed permanently: the public part of a Problem. Headers are for responses only. */
export type JobFailure = Omit<ProblemJson, 'headers'>

import { Problem, type ProblemJson } from '../problem.ts'

/** Identifies a job: an id is unique within its kind. */
export interface JobRef {
  /** The kind of work: `webhook`. Lower case letters, digits and dashes. */
  kind: string
  /** Chosen by the caller, for example the key of a derivative. */
  id: string
}

export interface JobRequest extends JobRef {
  /** JSON of at most 64 KiB: names and numbers, never a file. */
  data: unknown
  /** Minimum delay of the first attempt. */
  delayMs?: number
  /** Jobs with an owner run in turns of their owners. Either all jobs of a kind have an owner, or no job of it has. */
  owner?: JobOwner
}

/** The client and caller that a job is done for. */
export interface JobOwner {
  /** The client's id. */
  client: string
  /** The IP address of a caller without a secret, as limits count it; absent for a trusted caller. */
  stranger?: string
}

/** Numbers of jobs of a client that wait or run. */
export interface OpenJobs {
  all: number
  /** Jobs of callers without a secret. */
  strangers: number
  /** Jobs of the given IP address; 0 for a trusted caller. */
  sameStranger: number
}

/**
 * Work that may take minutes, may need retries, and outlives the process that requested it.
 *
 * A job is delivered at least once. When a process dies or loses its connection to the queue after the work, but before it
 * has recorded that the job is done, the job runs again. So handlers must be idempotent.
 */
export interface Jobs {
  /**
   * Adds a job durably. Changes nothing when a job with this name waits, runs, or has failed permanently. A job that is done
   * is added again.
   *
   * @throws Problem 503 when jobs cannot be stored at the moment; the job may have been added nevertheless
   */
  enqueue(job: JobRequest): Promise<void>
  /**
   * The state of a job; undefined when it does not exist, or its record was deleted some time after its end.
   * @throws Problem 503
   */
  status(job: JobRef): Promise<JobStatus | undefined>
  /**
   * Counts the jobs of a kind that wait or run for the owner's client.
   * @throws Problem 503
   */
  openOf(kind: string, owner: JobOwner): Promise<OpenJobs>
  /**
   * Counts all jobs of a kind that wait (delayed ones included) or run, in all processes.
   * @throws Problem 503
   */
  counts(kind: string): Promise<{ waiting: number; running: number }>
  /**
   * Starts a worker for this kind in this process. Jobs without an owner begin in the order of their due time. Jobs with an
   * owner begin in turns: by client, then by trusted and other callers, then by IP address. Call it once per kind.
   */
  work<T>(kind: string, handler: JobHandler<T>, options: WorkOptions): void
  /** Permanently stops beginning jobs in this process. Running jobs continue, and jobs can still be added. */
  pause(): void
  /**
   * Pauses, and waits for the running jobs. After `graceMs` it aborts the remaining ones and returns them to the queue. They
   * start again in another process or after the next start, and this attempt does not count.
   */
  close(options: { graceMs: number }): Promise<void>
}

/**
 * Does the work of a job. The job is done when this resolves. A Problem below 500 fails the job permanently. A {@link NotYet}
 * delays the job. Every other error is retried until all attempts are used.
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

/** Whether a job that failed with this error may succeed on a retry. */
export function mayPass(error: unknown): boolean {
  return !(error instanceof Problem && error.status < 500)
}

export interface Job<T = unknown> extends JobRef {
  /** The data that was given to `enqueue`. */
  data: T
  /** From 1. Attempts whose process died count too. */
  attempt: number
}

export interface JobRun {
  /**
   * Aborts when the time of the attempt is over, when the job returns to the queue, and when another process may have taken
   * it over. The handler must then stop within seconds, otherwise the job may run twice at the same time. Its error is ignored.
   */
  signal: AbortSignal
  /** Reports the progress of this attempt, from 0 to 1; stored in hundredths. */
  progress(fraction: number): void
}

export interface WorkOptions {
  /** Maximum number of jobs of this kind at a time in this process. */
  concurrency: number
  /** Time limit of one attempt. */
  limitMs: number
  /** Maximum number of attempts, from 1. */
  attempts: number
  /**
   * The delay before the second attempt, doubled for each further one. Every delay is shortened by up to a half at random:
   * jobs that failed together must not retry together.
   */
  retryMs: number
  /** The maximum delay. */
  retryMaxMs: number
}

export type JobStatus =
  | ({ state: 'waiting' | 'running' | 'done' } & JobCounts)
  | ({ state: 'failed'; failure: JobFailure } & JobCounts)

interface JobCounts {
  /** Attempts begun so far, the running one included. */
  attempts: number
  /** The reported progress of a running attempt; 1 when the job is done, otherwise 0. */
  progress: number
}

/** Why a job failed permanently: the public part of a Problem. Headers are for responses only. */
export type JobFailure = Omit<ProblemJson, 'headers'>

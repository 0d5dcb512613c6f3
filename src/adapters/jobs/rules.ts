import type {
  JobFailure,
  JobOwner,
  JobRequest,
  ListedJob,
  OpenJobs,
  WorkOptions,
} from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'

/** How long ended jobs are retained, in milliseconds, and how many at most. */
export interface Retention {
  doneMs: number
  doneCount: number
  failedMs: number
  failedCount: number
}

// Done: for callers who poll the status. Failed: so that a broken file is not decoded again at every request.
export const RETENTION: Retention = {
  doneMs: 10 * 60_000,
  doneCount: 1000,
  failedMs: 7 * 24 * 3_600_000,
  failedCount: 10_000,
}

/** The place of a job in a list. */
type JobPlace = Pick<ListedJob, 'id' | 'createdAt'>

const DATA_MAX_BYTES = 128 * 1024

/** @throws Error for an invalid job, which is a fault of the calling code */
export function checkJob({ kind, data, delayMs = 0 }: JobRequest): void {
  checkKind(kind)
  const bytes = Buffer.byteLength(JSON.stringify(data) ?? '')
  if (bytes > DATA_MAX_BYTES)
    throw new Error(`expected at most ${DATA_MAX_BYTES} bytes of data for a job but received ${bytes}`)
  if (!(delayMs >= 0 && delayMs < Number.POSITIVE_INFINITY))
    throw new Error(`expected a time from 0 for delayMs but received ${delayMs}`)
}

/** @throws Error for an invalid kind */
export function checkKind(kind: string): void {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(kind))
    throw new Error(`expected letters, digits and dashes for a job's kind but received "${kind}"`)
}

/** The public description of an error: that of a Problem, and a general text for any other error. */
export function failureOf(error: unknown): JobFailure {
  if (error instanceof Problem) {
    const { headers, ...failure } = error.toJSON()
    return failure
  }
  return { status: 500, code: 'internal', detail: 'internal error' }
}

/** The failure of a job whose process has died at every attempt. */
export const ALL_DIED: JobFailure = {
  status: 500,
  code: 'internal',
  detail: 'The worker process died on every attempt.',
}

/** Counts open jobs of the owner's client. @param addresses the IP address of each job's caller; undefined for a trusted caller */
export function countOpen(addresses: ReadonlyArray<string | undefined>, owner: JobOwner): OpenJobs {
  const anonymous = addresses.filter((address) => address !== undefined)
  return {
    all: addresses.length,
    anonymous: anonymous.length,
    sameAddress: anonymous.filter((address) => address === owner.stranger).length,
  }
}

/** Milliseconds to wait after this many attempts. `random` is from 0 inclusive to 1 exclusive. */
export function retryDelayMs(
  attempts: number,
  { retryMs, retryMaxMs }: Pick<WorkOptions, 'retryMs' | 'retryMaxMs'>,
  random = Math.random(),
): number {
  const whole = Math.min(retryMs * 2 ** (attempts - 1), retryMaxMs)
  return Math.round(whole * (1 - random / 2))
}

/** The order of lists: the newest first; of jobs of one millisecond by ID. */
export function newestFirst(one: JobPlace, other: JobPlace): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? -1 : 1)
}

/** Whether a job follows another one in a list. */
export function isAfter(job: JobPlace, after: JobPlace | undefined): boolean {
  return after === undefined || (job.id !== after.id && newestFirst(after, job) < 0)
}

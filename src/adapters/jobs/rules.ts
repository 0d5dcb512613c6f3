import type { JobFailure, JobOwner, JobRequest, OpenJobs, WorkOptions } from '../../core/ports/jobs.ts'
import { Problem } from '../../core/problem.ts'

/** How long, and how many at most, ended jobs are remembered. */
export interface Retention {
  doneMs: number
  doneCount: number
  failedMs: number
  failedCount: number
}

// Done: for those who ask how it went. Failed: so that a broken file is not decoded again at every request.
export const RETENTION: Retention = {
  doneMs: 10 * 60_000,
  doneCount: 1000,
  failedMs: 7 * 24 * 3_600_000,
  failedCount: 10_000,
}

const DATA_MAX_BYTES = 64 * 1024

/** @throws Error for a job that no caller should have made */
export function checkJob({ kind, data, delayMs = 0 }: JobRequest): void {
  checkKind(kind)
  const bytes = Buffer.byteLength(JSON.stringify(data) ?? '')
  if (bytes > DATA_MAX_BYTES)
    throw new Error(`expected at most ${DATA_MAX_BYTES} bytes of data for a job but received ${bytes}`)
  if (!(delayMs >= 0 && delayMs < Number.POSITIVE_INFINITY))
    throw new Error(`expected a time from 0 for delayMs but received ${delayMs}`)
}

/** @throws Error */
export function checkKind(kind: string): void {
  if (!/^[a-z][a-z0-9-]{0,63}$/.test(kind))
    throw new Error(`expected letters, digits and dashes for a job's kind but received "${kind}"`)
}

/** The public part of a Problem. Of any other error, nothing is public. */
export function failureOf(error: unknown): JobFailure {
  if (error instanceof Problem) {
    const { headers, ...failure } = error.toJSON()
    return failure
  }
  return { status: 500, code: 'internal', detail: 'something went wrong here' }
}

/** The failure of a job whose process has died at every attempt. */
export const ALL_DIED: JobFailure = {
  status: 500,
  code: 'internal',
  detail: 'the process that did this ended before it was done, at every attempt',
}

/** Counts open jobs of the owner's client, given the strangers that they are done for: undefined for a trusted caller. */
export function countOpen(strangers: ReadonlyArray<string | undefined>, owner: JobOwner): OpenJobs {
  const ofStrangers = strangers.filter((stranger) => stranger !== undefined)
  return {
    all: strangers.length,
    strangers: ofStrangers.length,
    sameStranger: ofStrangers.filter((stranger) => stranger === owner.stranger).length,
  }
}

/** How long to wait after this many attempts. `random`: from 0, below 1. */
export function retryDelayMs(
  attempts: number,
  { retryMs, retryMaxMs }: Pick<WorkOptions, 'retryMs' | 'retryMaxMs'>,
  random = Math.random(),
): number {
  const whole = Math.min(retryMs * 2 ** (attempts - 1), retryMaxMs)
  return Math.round(whole * (1 - random / 2))
}

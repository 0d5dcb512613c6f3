import type { JobFailure } from '../../core/ports/jobs.ts'

/** The data of one job in Redis. */
export interface BullData {
  id: string
  data: unknown
}

/**
 * Progress of one run. Each start of a job is a new run, whether it
 * counts as an attempt or not. Progress of earlier runs is void.
 */
export interface BullProgress {
  run: number
  fraction: number
}

/** The failure reason of a job that has failed permanently, stored as JSON. */
export interface BullEnd {
  attempts: number
  failure: JobFailure
}

/** The key that exists while this job is to be removed. A job that is added again has another time. */
export const removalKey = (toKey: (name: string) => string, jobId: string, createdAt: number) =>
  toKey(`removal-of:${jobId}:${createdAt}`)

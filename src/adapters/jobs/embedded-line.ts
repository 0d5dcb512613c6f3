import type { Log } from '../../core/log.ts'
import type { JobHandler, JobOwner, JobRef, WorkOptions } from '../../core/ports/jobs.ts'
import type { DiskReserve } from '../disk/disk-reserve.ts'
import type { DueQueue } from './due-queue.ts'
import type { OpenRow } from './embedded-table.ts'
import type { Retention } from './rules.ts'
import type { Turns } from './turns.ts'

export interface EmbeddedJobsOptions {
  /** A folder that only the jobs use. */
  folder: string
  log: Log
  keep?: Retention
  /** After how many milliseconds a job begins again whose state could not be written. */
  noteAgainMs?: number
  reserve?: DiskReserve
}

/** A job that waits or runs. Its data stays on the disk until it runs. */
export interface OpenJob {
  ref: JobRef
  owner: JobOwner | undefined
  dueAt: number
  turn: number
  attempts: number
  state: 'waiting' | 'running'
  progress: number
  /** Milliseconds since 1970. */
  createdAt: number
  /** Aborted when the job is removed. In the queues, a removed job is ignored. */
  removal: AbortController
  /** Settles when the job is on the disk, or the write has failed. */
  stored: Promise<void>
}

/** The jobs of one kind, and their handler. */
export interface Line {
  waiting: DueQueue<OpenJob>
  /** Jobs that are due, ordered by owner. */
  due: Turns<OpenJob>
  work?: { handler: JobHandler<never>; options: WorkOptions }
  running: number
  timer?: NodeJS.Timeout
}

/** A job that waits, as its row has it. */
export function openJobOf(
  ref: JobRef,
  { owner, dueAt, turn, attempts, createdAt = dueAt }: OpenRow,
): OpenJob {
  return {
    ref,
    owner,
    dueAt,
    turn,
    attempts,
    state: 'waiting',
    progress: 0,
    createdAt,
    removal: new AbortController(),
    stored: Promise.resolve(),
  }
}

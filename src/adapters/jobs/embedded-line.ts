import type { Log } from '../../core/log.ts'
import type { JobHandler, JobOwner, JobRef, WorkOptions } from '../../core/ports/jobs.ts'
import type { DiskReserve } from '../disk/disk-reserve.ts'
import type { DueQueue } from './due-queue.ts'
import type { Retention } from './rules.ts'
import type { Turns } from './turns.ts'

export interface EmbeddedJobsOptions {
  /** A folder of its own. */
  folder: string
  log: Log
  keep?: Retention
  /** After how long a job is begun anew that could not be noted down. */
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
  /** Settles when it is on the disk, or cannot be. */
  stored: Promise<void>
}

/** The jobs of one kind, and who does them. */
export interface Line {
  waiting: DueQueue<OpenJob>
  /** What is due, by owner. */
  due: Turns<OpenJob>
  work?: { handler: JobHandler<never>; options: WorkOptions }
  running: number
  timer?: NodeJS.Timeout
}

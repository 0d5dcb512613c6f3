import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey, OriginalName } from '../../core/files/object-key.ts'
import type { JobStatus } from '../../core/ports/jobs.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import type { FoundOriginal } from '../originals/originals.ts'
import type { MediaRequest } from './media-places.ts'

/** A derivative that takes minutes to make. */
export interface WantedMedia extends MediaRequest {
  client: Client
  original: FoundOriginal
  plan: Plan
  /** What was asked for, by which whoever makes it finds the plan again. */
  query: MediaRequest['query']
  /** The `Accept` header. */
  accept: string
  /** Called before a new job begins, not for one that exists: what it throws is the answer. */
  beforeJob?: (() => Promise<void>) | undefined
  /** Whether it is evicted after all others. */
  isHeld?: boolean
}

/** Videos and sounds are made by jobs, one for each derivative however many ask for it. */
export interface MediaJobs {
  /**
   * Has it made, unless somebody is at it or that has failed for good. Answers at once.
   * @throws Problem 403 when the caller may begin none, 404 when the original is going, 429 when the client has too many under way or the file too many
   *   derivatives, 503
   */
  begin(wanted: WantedMedia): Promise<JobStatus>
  /**
   * The same, and waits: answers when it is stored, or is being made and can be played already.
   * @throws Problem 423 when that is not so after `waitMs`, the failure that its job has ended with
   */
  finish(wanted: WantedMedia, options: { waitMs: number; signal: AbortSignal }): Promise<void>
  /**
   * What is known of the derivative that a path names: of its job, or that it is stored.
   * @throws Problem 400, 404 when there is neither, 503
   */
  look(client: Client, path: string): Promise<MediaJob>
  /** From now on this process does such jobs. */
  work(): void
  /** Puts back what it is doing. Once the jobs have been paused. */
  stop(): void
}

/** How the making of a derivative goes. */
export interface MediaJob {
  key: ObjectKey
  original: OriginalName
  status: JobStatus
  /** There is something at its address: all of it, or enough to begin with. */
  isPlayable: boolean
}

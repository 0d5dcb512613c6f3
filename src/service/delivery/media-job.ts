import type { Client } from '../../core/clients/client.ts'
import { type ObjectKey, type OriginalName, parseKey } from '../../core/files/object-key.ts'
import { isOffice } from '../../core/media/formats.ts'
import type { Preferences } from '../../core/media/preferences.ts'
import type { JobRef, JobStatus } from '../../core/ports/jobs.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import type { Reserved } from '../derivatives/derivations.ts'
import type { FoundOriginal } from '../originals/originals.ts'
import type { MediaRequest } from './media-places.ts'

/** A derivative that a media job renders. */
export interface WantedMedia extends MediaRequest {
  client: Client
  original: FoundOriginal
  plan: Plan
  /** The requested parameters. The worker derives the plan from them again. */
  query: MediaRequest['query']
  preferences: Preferences
  /** Called before a new job begins, not for one that exists. Its error is the response. */
  beforeJob?: (() => Promise<void>) | undefined
  /** Whether the derivative is evicted after all others. */
  isHeld?: boolean
  /** Set when another derivative is rendered from this one: the rules of the client are about that one. */
  isSource?: boolean
  /** Whether a job that has failed permanently begins again. */
  again?: boolean
}

/**
 * The kinds of media jobs in the queue. Documents have a queue of their own: a conversion takes seconds and one core, and would
 * wait for a video that takes minutes and all cores.
 */
export const MEDIA_KINDS = ['media', 'document'] as const
export type MediaKind = (typeof MEDIA_KINDS)[number]

/** The job that renders a derivative of a client. */
export function mediaJobRef({ id }: Pick<Client, 'id'>, derivative: ObjectKey): JobRef & { kind: MediaKind } {
  const format = parseKey(derivative)?.format
  return { kind: format && isOffice(format) ? 'document' : 'media', id: `${id} ${derivative}` }
}

/** The data of a media job in the queue. */
export interface QueuedMedia extends Reserved {
  query: WantedMedia['query']
  preferences: Preferences
  isHeld?: boolean
  isSource?: boolean
  /** Until then the job is deferred while resources are missing. Milliseconds since 1970. */
  until: number
}

/** Renders videos, audio files and PDFs of Office documents by jobs: one job per derivative, however many requests there are. */
export interface MediaJobs {
  /**
   * Queues a job, unless one is in progress or has failed permanently. Does not wait for it. With `again`, a failed job begins
   * again; it remains as it is when this throws.
   * @throws Problem 403 when the caller may not begin jobs, 404 when the original is being deleted, 429 when the client has too
   *   many jobs or the file too many derivatives, 503
   */
  begin(wanted: WantedMedia): Promise<JobStatus>
  /**
   * The same, and waits until the derivative is stored, or until enough of it can be played.
   * @throws Problem 423 after `waitMs`; the failure of the job
   */
  finish(wanted: WantedMedia, options: { waitMs: number; signal: AbortSignal }): Promise<void>
  /**
   * The state of the derivative that a path names.
   * @throws Problem 400, 404 when it is neither stored nor has a job, 503
   */
  look(client: Client, path: string): Promise<MediaJob>
  /** Starts to run media jobs in this process. */
  work(): void
  /** Aborts the running jobs and returns them to the queue. Called after the queue was paused. */
  stop(): void
}

/** The state of a derivative that a media job renders. */
export interface MediaJob {
  key: ObjectKey
  original: OriginalName
  status: JobStatus
  /** Whether its URL delivers it: completely, or enough of it to begin playing. */
  isPlayable: boolean
}

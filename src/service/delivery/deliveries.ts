import type { Asset } from '../../core/bytes/asset.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey, OriginalName } from '../../core/files/object-key.ts'
import type { Format } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { JobStatus } from '../../core/ports/jobs.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'

export interface DeliveryRequest {
  client: Client
  caller: Caller
  /** As in the URL: the file's own, or there is no such file. */
  group: MediaGroup
  /** Decoded once, not checked yet. */
  path: string
  /** What is not in it is not there; absent: all is. */
  folder?: string | undefined
  /** What is to be done with it; none: as it is. */
  query: ReadonlyArray<readonly [name: string, value: string]>
  /** The `Accept` header; empty when there is none. */
  accept: string
  /** How long the caller waits for what takes minutes. */
  waitMs?: number
  /** Whether it has to be one file: to be saved, or put into an archive. */
  isOneFile?: boolean
  /** Asked before a picture is made that is not there yet: what it throws is the answer. */
  beforeRender?: () => Promise<void>
  /** The same before a new media job begins. */
  beforeJob?: () => Promise<void>
  /** The URL carries the client's signature. */
  isSigned?: boolean
  signal: AbortSignal
}

/** A file to send. */
export interface Delivery {
  key: ObjectKey
  asset: Asset
  /** The original's, for those who save it. */
  originalName: string
  /** Its format, where that is not the original's: a name for it then ends otherwise. */
  newFormat: Format | undefined
  /** Whether caches must keep it apart by `Accept`. */
  variesByAccept: boolean
  /** The code of the limit that what was asked for has met: this is the original in its place, for now. */
  fallbackReason?: string
  /** What was done otherwise than asked. */
  notes: readonly string[]
  /** It leads to files beside it, so it is of use only at its own address, and what was asked for had another. */
  mustRedirect?: true
  /** It is still being made, and may be another in a moment. */
  isPartial?: true
  /** There was no room to store it. */
  isUnstored?: true
}

/** The files that URLs name: originals, and what is made of them. */
export interface Deliveries {
  /** What a request for a file of this format would have done. @throws Problem 400, 403, 404 for a file that a parameter names outside of the folder */
  plan(request: Pick<DeliveryRequest, 'client' | 'folder' | 'query' | 'accept'> & { format: Format }): Plan
  /** @throws Problem 400, 403, 404, 422, 423 for what a job has yet to make, 429, 503 */
  deliver(request: DeliveryRequest): Promise<Delivery>
  /**
   * Has a derivative of a stored original made by a job, where it is one that takes minutes and is not there yet.
   * @returns what is known of the job; undefined for a derivative that is made within a request
   * @throws Problem 400, 403, 404, 429, 503
   */
  begin(
    request: Pick<DeliveryRequest, 'client' | 'caller' | 'query'> & { original: OriginalName },
  ): Promise<JobStatus | undefined>
  /** The raw object of a full key, an original's or a stored derivative's. @throws Problem 400, 404 */
  object(request: Pick<DeliveryRequest, 'client' | 'path'>): Promise<Delivery>
}

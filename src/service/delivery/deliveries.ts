import type { Asset } from '../../core/bytes/asset.ts'
import type { CacheSettings } from '../../core/caching/cache-settings.ts'
import type { Caller } from '../../core/clients/caller.ts'
import type { Client } from '../../core/clients/client.ts'
import type { ObjectKey, OriginalName } from '../../core/files/object-key.ts'
import type { Encoding } from '../../core/media/encodings.ts'
import { type Format, formatOfMediaType } from '../../core/media/formats.ts'
import type { MediaGroup } from '../../core/media/groups.ts'
import type { Preference, Preferences } from '../../core/media/preferences.ts'
import type { DerivativeRecord } from '../../core/ports/file-index.ts'
import type { JobStatus } from '../../core/ports/jobs.ts'
import type { Plan } from '../../pipeline/plan/plan.ts'
import type { FoundOriginal } from '../originals/originals.ts'

export interface DeliveryRequest {
  client: Client
  caller: Caller
  /** The media group in the URL. A file of another group is not found. */
  group: MediaGroup
  /** Decoded once, not validated yet. */
  path: string
  /** Restricts the request to files in this folder; absent: no restriction. */
  folder?: string | undefined
  /** The parameters of the transformation; empty: the file is delivered unmodified. */
  query: ReadonlyArray<readonly [name: string, value: string]>
  preferences: Preferences
  /** How long the caller waits for a media job. */
  waitMs?: number
  /** Whether the result has to be one file: for a download or an archive. */
  isOneFile?: boolean
  /** Called before a new derivative is rendered. Its error is the response. */
  beforeRender?: () => Promise<void>
  /** Called before a new media job begins. Its error is the response. */
  beforeJob?: () => Promise<void>
  /** Whether the client has signed the URL. */
  isSigned?: boolean
  signal: AbortSignal
}

/** The stored file behind a delivery. */
export interface StoredSource {
  clientId: string
  original: ObjectKey
  /** Absent when the original itself is delivered. */
  derivative?: ObjectKey
  /** As in `Use`: whether the derivative is evicted after the others. */
  isHeld: boolean
  /** As in its record: a smaller file with the same picture. */
  smaller?: DerivativeRecord['smaller'] | undefined
  /** Set when it is delivered instead of another derivative, which is larger by `savedBytes`. */
  instead?: { key: ObjectKey; savedBytes: number }
  /** Set when the path names the derivative. Its use is noted, but not counted as a hit. */
  isNamed?: true
  /** Its bytes in the bucket. If they are missing, `open` fails with 404, and the file has to be found again. */
  asset: Asset
}

/** A file to send. */
export interface Delivery {
  key: ObjectKey
  asset: Asset
  /** The name of the uploaded file, for downloads. */
  originalName: string
  /** SHA-256 in hexadecimal, of an original. */
  sha256?: string
  /** The format, if it is not that of the original: a download then has another file extension. */
  newFormat: Format | undefined
  /** Whether the response depends on the `Accept` header. */
  variesBy: readonly Preference[]
  /** The code of the limit that the transformation has exceeded; the asset is the original then. */
  fallbackReason?: string
  /** How the file differs from what was requested. */
  notes: readonly string[]
  /** The cache settings of the preset in the URL. */
  caching?: CacheSettings | undefined
  /** A playlist with relative URLs: respond with a redirect to its own URL. */
  mustRedirect?: true
  /** The media job is in progress, and the file may still change. */
  isPartial?: true
  /** It is not stored, since a storage limit is reached. */
  isUnstored?: true
  /** Set when the file was stored before this request, and does not change. */
  stored?: StoredSource
  /** Set when the bytes are compressed. The key is that of the file itself. */
  encoding?: Encoding
}

/** A delivery without what depends on the query of the request. */
export type Found = Omit<Delivery, 'variesBy' | 'notes' | 'caching'>

/** The delivery of a file of a derivative. */
export function derived({ name, record }: FoundOriginal, key: ObjectKey, asset: Asset): Found {
  return { key, asset, originalName: record.originalName, newFormat: newFormatOf(asset, name.format) }
}

/** The format of an asset, if it is not that of the file from which it was rendered. */
export function newFormatOf({ mediaType }: Pick<Asset, 'mediaType'>, before: Format): Format | undefined {
  const format = formatOfMediaType(mediaType)
  return format.mediaType === before.mediaType ? undefined : format
}

/** Delivers the files that URLs name: originals and derivatives. */
export interface Deliveries {
  /** Plans a request for a file of this format. @throws Problem 400, 403, 404 for a file that a parameter names outside of the folder */
  plan(
    request: Pick<DeliveryRequest, 'client' | 'folder' | 'query' | 'preferences'> & { format: Format },
  ): Plan
  /** Plans a query for a stored original. @throws Problem 400, 403, 501 */
  planFor(
    request: Pick<DeliveryRequest, 'client' | 'caller' | 'query' | 'preferences' | 'signal'>,
    original: FoundOriginal,
  ): Promise<Plan>
  /** @throws Problem 400, 403, 404, 422, 423 while a media job is in progress, 429, 503 */
  deliver(request: DeliveryRequest): Promise<Delivery>
  /**
   * Begins a media job for a derivative of a stored original, unless it is stored or a job exists.
   * @returns the state of the job; undefined for a derivative that is rendered within a request
   * @throws Problem 400, 403, 404, 429, 503
   */
  begin(
    request: Pick<DeliveryRequest, 'client' | 'caller' | 'query'> & { original: OriginalName },
  ): Promise<JobStatus | undefined>
  /** The object with this key: an original or a stored derivative, unmodified. @throws Problem 400, 404 */
  object(
    request: Pick<DeliveryRequest, 'client' | 'caller' | 'path' | 'preferences' | 'signal'>,
  ): Promise<Delivery>
  /** Counts and notes another delivery of a stored file, by a cache of responses. */
  noteRepeated(source: StoredSource): void
}

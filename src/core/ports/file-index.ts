import type { ObjectKey } from '../object-key.ts'

/** Names an original of a client. */
export interface FileRef {
  clientId: string
  key: ObjectKey
}

/** What is known of a stored original. */
export interface OriginalRecord {
  key: ObjectKey
  /** As uploaded, cleaned, at most 255 bytes. */
  originalName: string
  /** With its parameters: `text/plain; charset=utf-8`. */
  mediaType: string
  /** Bytes. */
  size: number
  /** Hexadecimal. */
  sha256: string
  /** Milliseconds since 1970. */
  storedAt: number
  /** What has been found out of a video's or sound's headers, in the words of who reads them. Of the index alone. */
  probe?: string
}

/** What is known of a stored derivative. */
export interface DerivativeRecord {
  key: ObjectKey
  mediaType: string
  /** Bytes. */
  size: number
}

/**
 * An original's states. All instants are milliseconds since 1970.
 *
 * - `pending`: being uploaded by someone who renews the lease
 * - `stored`
 * - `going`: being deleted; whoever finds the lease over goes on with it. From here on there is no way back
 * - `gone`: a tombstone: deleted, but a transform that began before may still put bytes until its deadline
 */
export type OriginalEntry =
  | { state: 'pending'; leaseUntil: number }
  | { state: 'stored'; record: OriginalRecord }
  | { state: 'going'; leaseUntil: number }
  | { state: 'gone' }

export type DerivativeEntry =
  | { state: 'pending'; deadline: number }
  | { state: 'stored'; record: DerivativeRecord }

/** Something that nobody works on any more: its lease or deadline is over. */
export type Overdue =
  | { kind: 'original'; ref: FileRef }
  | { kind: 'derivative'; ref: FileRef; derivative: ObjectKey; deadline: number }

/** All that the index knows of one original, as it was at one moment. */
export interface IndexedFile {
  ref: FileRef
  original: OriginalEntry
  derivatives: ReadonlyArray<{ key: ObjectKey; entry: DerivativeEntry }>
}

/**
 * The index of originals and of what was derived from them. Every method is one atomic step, durable when it
 * resolves, so that a crash between two steps leaves a state that {@link FileIndex.overdue} finds and a sweep ends.
 * The buckets are the truth: an emptied index is filled again by {@link FileIndex.adopt} and
 * {@link FileIndex.adoptDerivative}.
 */
export interface FileIndex {
  /** An original and, when asked for, one of its derivatives. */
  find(
    ref: FileRef,
    derivative?: ObjectKey,
  ): Promise<{ original?: OriginalEntry; derivative?: DerivativeEntry }>

  /** New → `pending`. @throws when the key is known already */
  beginUpload(ref: FileRef, leaseUntil: number): Promise<void>
  /** Moves the lease of those that are still `pending`. */
  renewUpload(refs: readonly FileRef[], leaseUntil: number): Promise<void>
  /**
   * `pending` → `stored`, all or none. One that is `stored` already stays as it is and counts as done, so this may be
   * asked again when its answer was lost, and a sweep may have been faster.
   * @returns false, and does nothing, when one is neither: somebody took it away
   */
  finishUpload(clientId: string, records: readonly OriginalRecord[]): Promise<boolean>
  /** Unknown → `stored`: an original found in the bucket. @returns the entry there is now */
  adopt(clientId: string, record: OriginalRecord): Promise<OriginalEntry>
  /** `stored` → `stored` with another record. @returns false, and does nothing, when `record` is not what is known of it */
  amend(clientId: string, record: OriginalRecord, amended: OriginalRecord): Promise<boolean>

  /**
   * Adds the derivative as `pending`, unless it is new and its original has `atMost` of them already, pending ones
   * included; without `atMost` there is no limit. One that is known begins anew and does not count again.
   */
  beginDerivative(
    ref: FileRef,
    derivative: ObjectKey,
    deadline: number,
    options?: { atMost: number },
  ): Promise<DerivativeStart>
  /** → `stored`. @returns false, and does nothing, when the original is not `stored` any more: delete the bytes */
  finishDerivative(ref: FileRef, record: DerivativeRecord): Promise<boolean>
  /**
   * Unknown → `stored`: a derivative found in the bucket. One that is known stays as it is.
   * @returns the entry there is now; undefined, and does nothing, when the original is not `stored`
   */
  adoptDerivative(ref: FileRef, record: DerivativeRecord): Promise<DerivativeEntry | undefined>
  /**
   * Forgets a derivative that is `pending` until `deadline` at the latest: one that was begun anew since then is
   * somebody else's. Dropping the last one of a `gone` original also drops the
   * tombstone.
   */
  dropDerivative(ref: FileRef, derivative: ObjectKey, deadline: number): Promise<void>

  /**
   * → `going`, if the original is in one of the states that `cause` allows:
   * `delete`: stored or going; `abandon`: pending; `sweep`: pending or going past its lease, gone past all deadlines.
   * @returns the keys of all derivatives known, or undefined when the state does not allow it
   */
  beginRemoval(
    ref: FileRef,
    options: { cause: RemovalCause; leaseUntil: number; now: number },
  ): Promise<ObjectKey[] | undefined>
  /**
   * `going` → forgotten, or `gone` while a pending derivative's deadline lies ahead.
   * @returns false when it was not `going`: somebody else has finished
   */
  finishRemoval(ref: FileRef, now: number): Promise<boolean>

  /**
   * All originals, or those of one client, in no order. What is known from the beginning of the listing to its end is
   * in it, perhaps twice; what comes or goes meanwhile may be.
   */
  list(clientId?: string): AsyncIterable<IndexedFile>
  /** What a sweep has to look at. */
  overdue(now: number): AsyncIterable<Overdue>
  /** @throws when the index cannot be used at the moment */
  ping(): Promise<void>
  close(): Promise<void>
}

/** `full`: there is no room for one more; `refused`: the original is not `stored`. Both change nothing. */
export type DerivativeStart = 'begun' | 'full' | 'refused'

export type RemovalCause = 'delete' | 'abandon' | 'sweep'

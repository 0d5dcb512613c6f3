import type { FileRef } from '../files/file-ref.ts'
import type { ObjectKey } from '../files/object-key.ts'
import type { DerivativeUses, Use } from './derivative-uses.ts'
import type { RecordChanges } from './record-changes.ts'

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
  /** Of a JPEG, PNG or GIF: the file ends before its picture does. Absent when it does not. */
  truncated?: true
  /** What has been found out of a video's or sound's headers, in the words of who reads them. Of the index alone. */
  probe?: string
  /** What its owner has said of it; absent when empty, see `core/files/annotations.ts`. */
  tags?: readonly string[]
  metadata?: Readonly<Record<string, string>>
}

/** When an original was thrown away, and until when it can be had back: milliseconds since 1970, the latter exclusive. */
export interface Trash {
  at: number
  until: number
}

/** What is known of a stored derivative. */
export interface DerivativeRecord {
  key: ObjectKey
  mediaType: string
  /** Bytes. */
  size: number
  /** Bytes of its parts together, where it is a bundle. */
  partsBytes?: number
}

/**
 * An original's states. All instants are milliseconds since 1970.
 *
 * - `pending`: being uploaded by someone who renews the lease
 * - `stored`
 * - `trashed`: deleted, but kept until its time is over; to whoever delivers or transforms it there is no such file
 * - `going`: being deleted; whoever finds the lease over goes on with it. From here on there is no way back
 * - `gone`: a tombstone: deleted, but a transform that began before may still put bytes until its deadline
 */
export type OriginalEntry =
  | { state: 'pending'; leaseUntil: number }
  | { state: 'stored'; record: OriginalRecord }
  | { state: 'trashed'; record: OriginalRecord; trash: Trash }
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

/** The states of originals that are listed. */
export type ListedState = 'stored' | 'trashed'

/** A part of one client's originals in one state, in an order. */
export interface PageRequest {
  state: ListedState
  /** Equal ones by key. Texts by their bytes in UTF-8. */
  by: 'key' | 'storedAt' | 'sha256'
  direction?: 'up' | 'down'
  /** Only those whose position begins so: by `key` it is the key, by `sha256` the digest, a space and the key. Ends with `/`. */
  prefix?: string
  /** The position behind which to go on, whether or not there is still something. */
  after?: string
  /** At least 1. */
  limit: number
}

export interface ListedFile {
  /** Where it stands in the list. */
  position: string
  record: OriginalRecord
  trash?: Trash
}

export interface Page {
  files: readonly ListedFile[]
  /** The position after which to go on; undefined when there is nothing behind it. */
  next: string | undefined
}

/** How many originals there are, and their bytes, without those of their derivatives. */
export type Totals = Record<ListedState, { files: number; bytes: number }>

/**
 * The index of originals and of what was derived from them. Every method is one atomic step, durable when it
 * resolves, so that a crash between two steps leaves a state that {@link FileIndex.overdue} finds and a sweep ends.
 * The buckets are the truth: an emptied index is filled again by {@link FileIndex.adopt} and
 * {@link FileIndex.adoptDerivative}.
 */
export interface FileIndex extends DerivativeUses, RecordChanges {
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
  /**
   * Unknown → `stored`, or `trashed`: an original found in the bucket. One that is known stays as it is, but is listed from
   * now on should an older version have left it out.
   * @returns the entry there is now
   */
  adopt(clientId: string, record: OriginalRecord, trash?: Trash): Promise<OriginalEntry>
  /** `stored` → `stored` with another record. @returns false, and does nothing, when `record` is not what is known of it */
  amend(clientId: string, record: OriginalRecord, amended: OriginalRecord): Promise<boolean>
  /** `stored` → `trashed`. @returns the keys of all derivatives known, or undefined, and does nothing, when it was not `stored` */
  trash(ref: FileRef, trash: Trash): Promise<ObjectKey[] | undefined>
  /** `trashed` → `stored`, before its time is over. @returns whether it was */
  restore(ref: FileRef, now: number): Promise<boolean>

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
  /**
   * → `stored`.
   * @param use its first one; without it, the derivative is among the first to be evicted
   * @returns false, and does nothing, when the original is not `stored` any more: delete the bytes
   */
  finishDerivative(ref: FileRef, record: DerivativeRecord, use?: Use): Promise<boolean>
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
   * `delete`: stored or going; `purge`: those or trashed; `abandon`: pending; `sweep`: pending or going past its lease,
   * trashed past its time, gone past all deadlines.
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
  /** All that is known of one original; undefined when it is unknown. */
  look(ref: FileRef): Promise<IndexedFile | undefined>
  /** A part of a list; what is known from the first part to the last, in the same state, is in one of them, once. */
  page(clientId: string, request: PageRequest): Promise<Page>
  totals(clientId: string): Promise<Totals>
  /** Whether {@link FileIndex.markComplete} was called since the index was begun, or emptied: whether lists can be believed. */
  isComplete(): Promise<boolean>
  /** Notes that all that the buckets hold is known and listed. */
  markComplete(): Promise<void>
  /** The run of the store behind the index, at this moment. */
  run(): Promise<IndexRun>
  /** Notes that all that the buckets hold was compared with the index, from beginning to end in the run of this name. */
  noteCompared(run: string): Promise<void>
  /** What a sweep has to look at. */
  overdue(now: number): AsyncIterable<Overdue>
  /** @throws when the index cannot be used at the moment */
  ping(): Promise<void>
  close(): Promise<void>
}

/** From the start of the store behind the index to its end: another run may have lost the last steps of the one before. */
export interface IndexRun {
  /** Undefined where the store does not name its runs. */
  id: string | undefined
  /** Whether {@link FileIndex.noteCompared} was called in this run: every derivative of the buckets is known. */
  isCompared: boolean
}

/** `full`: there is no room for one more; `refused`: the original is not `stored`. Both change nothing. */
export type DerivativeStart = 'begun' | 'full' | 'refused'

export type RemovalCause = 'delete' | 'purge' | 'abandon' | 'sweep'

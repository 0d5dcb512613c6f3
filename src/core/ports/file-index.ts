import type { FileRef } from '../files/file-ref.ts'
import type { ObjectKey } from '../files/object-key.ts'
import type { Point } from '../geometry/box.ts'
import type { ScriptName } from '../media/scripts.ts'
import type { Scan } from '../storage/scan.ts'
import type { DerivativeUses, Use } from './derivative-uses.ts'
import type { FileSearch } from './index/file-search.ts'
import type { FolderCounts } from './index/folder-counts.ts'
import type { FolderKeys } from './index/folder-keys.ts'
import type { IndexRuns } from './index/index-run.ts'
import type { IndexUpkeep } from './index/index-upkeep.ts'
import type { ListedState, Totals } from './index/listed-state.ts'
import type { PageRequest, Positions } from './index/page-request.ts'
import type { RecordChanges } from './index/record-changes.ts'
import type { DerivativeStart, KeyRange, Overdue, RecordTags, RemovalCause } from './index/steps.ts'

/** A stored original. In this file, sizes are bytes, digests are hexadecimal, and instants are milliseconds since 1970. */
export interface OriginalRecord {
  key: ObjectKey
  /** The name of the uploaded file, cleaned, at most 255 bytes. */
  originalName: string
  /** With its parameters: `text/plain; charset=utf-8`. */
  mediaType: string
  size: number
  sha256: string
  /** CRC-32; absent for files that were stored by a version without it. */
  crc32?: number
  storedAt: number
  /** True for a JPEG, PNG or GIF whose file ends before its image does. */
  truncated?: true
  /** Of an SVG or text file: the scripts of its text for which a machine may lack a font. */
  scripts?: readonly ScriptName[]
  /** The malware scan; absent for files that were stored while no scanner was installed. */
  scan?: Scan
  /** The headers of a video or sound, as the engine that parsed them wrote them. Only the index has them, not the bucket. */
  probe?: string
  /** Set by the owner; absent when empty, see `core/files/annotations.ts`. */
  tags?: readonly string[]
  metadata?: Readonly<Record<string, string>>
  focalPoint?: Point
}

/** When an original was deleted, and until when it can be restored (exclusive). */
export interface Trash {
  at: number
  until: number
}

/** A stored derivative. */
export interface DerivativeRecord {
  key: ObjectKey
  mediaType: string
  size: number
  /** CRC-32; absent for derivatives that were found in the bucket, and those of older versions. */
  crc32?: number
  /** The bytes of all parts of a bundle; absent for a derivative that is one file. */
  partsBytes?: number
  /** Another derivative with the same picture in fewer bytes, which is delivered instead. `since`: milliseconds since 1970. */
  smaller?: { key: ObjectKey; since: number }
}

/**
 * The states of an original.
 *
 * - `pending`: an upload is in progress, and its process renews the lease
 * - `stored`
 * - `trashed`: soft-deleted; for deliveries and transformations the file does not exist
 * - `going`: a delete is in progress; after the lease, any process may continue it. This state never returns to `stored`
 * - `gone`: a tombstone. A transformation that began before the delete may still put bytes until its deadline
 */
export type OriginalEntry =
  | { state: 'pending'; leaseUntil: number }
  | ({ state: 'stored' } & ListedOriginal)
  | ({ state: 'trashed'; trash: Trash } & ListedOriginal)
  | { state: 'going'; leaseUntil: number }
  | { state: 'gone' }

interface ListedOriginal {
  record: OriginalRecord
  /** The tag of the object in the bucket from which `record`, and whether it is in the trash, were read. Absent when it is unknown. */
  recordTag?: string
}

export type DerivativeEntry =
  | { state: 'pending'; deadline: number }
  | { state: 'stored'; record: DerivativeRecord }

/** An original and all its derivatives, as they were at one moment. */
export interface IndexedFile {
  ref: FileRef
  original: OriginalEntry
  derivatives: ReadonlyArray<{ key: ObjectKey; entry: DerivativeEntry }>
}

export interface ListedFile {
  /** The position in the list. */
  position: string
  record: OriginalRecord
  trash?: Trash
}

/** A part of a range of keys. The next part is after `next`; undefined when this is the last one. */
export type FilesBetween = { files: readonly IndexedFile[]; next: string | undefined }

export interface Page {
  files: readonly ListedFile[]
  /** The position after which the next part begins; undefined when this is the last part. */
  next: string | undefined
  /** How many entries were read, at most. Absent: the limit. */
  looked?: number
}

/** Reads single entries. */
export interface FileLookup {
  /** An original and, if requested, one of its derivatives. */
  find(
    ref: FileRef,
    derivative?: ObjectKey,
  ): Promise<{ original?: OriginalEntry; derivative?: DerivativeEntry }>
  /** An original and all its derivatives; undefined when the index has no entry. */
  look(ref: FileRef): Promise<IndexedFile | undefined>
}

/** Uploads, changes and deletes of originals. */
export interface OriginalIndex extends FileLookup {
  /** New → `pending`. @throws when the index already has an entry for the key */
  beginUpload(ref: FileRef, leaseUntil: number): Promise<void>
  /** Extends the lease of those that are still `pending`. */
  renewUpload(refs: readonly FileRef[], leaseUntil: number): Promise<void>
  /**
   * `pending` → `stored`, all or none. Their ids need the same `partitionHash`. One that is `stored` already is unchanged and
   * counts as finished: the call may be repeated when its response was lost, and a sweep may have been faster.
   * @returns false, and changes nothing, when one is in neither state: it was deleted
   */
  finishUpload(
    clientId: string,
    records: readonly OriginalRecord[],
    recordTags?: RecordTags,
  ): Promise<boolean>
  /**
   * Adds an original that was found in the bucket, as `stored` or `trashed`. An entry that exists is unchanged, but listed and found
   * from now on if an older version has left it out. @returns the entry after this step
   */
  adopt(clientId: string, record: OriginalRecord, trash?: Trash, recordTag?: string): Promise<OriginalEntry>
  /** Lists an entry, as `adopt` does, and never adds one. @param record of the entry as it was read: it enters the search if it is current */
  enlist(clientId: string, record: OriginalRecord): Promise<void>
  /**
   * Replaces the record of a `stored` original. Without `recordTag`, its tag is forgotten, unless only the `probe` has changed.
   * @returns false, and changes nothing, when `record` is not its current one
   */
  amend(
    clientId: string,
    record: OriginalRecord,
    amended: OriginalRecord,
    recordTag?: string,
  ): Promise<boolean>
  /** Notes the tag of a `stored` or `trashed` original. @returns false, and changes nothing, when `entry` is not its current one */
  noteRecordTag(clientId: string, entry: OriginalEntry, recordTag: string): Promise<boolean>
  /** `stored` → `trashed`. @returns the keys of its derivatives; undefined, and changes nothing, when it was not `stored` */
  trash(ref: FileRef, trash: Trash): Promise<ObjectKey[] | undefined>
  /** `trashed` → `stored`, while it can be restored. @returns whether it was restored */
  restore(ref: FileRef, now: number): Promise<boolean>
  /**
   * → `going`, from a state that `cause` allows. `delete`: stored or going; `purge`: also trashed; `abandon`: pending;
   * `sweep`: pending or going after its lease, trashed after its time, gone after all deadlines.
   * @returns the keys of its derivatives; undefined, and changes nothing, when the state does not allow it
   */
  beginRemoval(
    ref: FileRef,
    options: { cause: RemovalCause; leaseUntil: number; now: number },
  ): Promise<ObjectKey[] | undefined>
  /**
   * `going` → no entry, or `gone` while the deadline of a pending derivative has not passed.
   * @returns false when it was not `going`: another process has finished the delete
   */
  finishRemoval(ref: FileRef, now: number): Promise<boolean>
}

/** Derivatives and their use. */
export interface DerivativeIndex extends FileLookup, DerivativeUses {
  /**
   * Adds the derivative as `pending`, unless it is new and its original already has `atMost` of them, pending ones included;
   * without `atMost` there is no limit. A known one becomes `pending` again, not counted twice. Those of `uncounted` never count.
   */
  beginDerivative(
    ref: FileRef,
    derivative: ObjectKey,
    deadline: number,
    options?: { atMost: number; uncounted?: readonly ObjectKey[] },
  ): Promise<DerivativeStart>
  /**
   * → `stored`. @param use the first use; without it, the derivative is among the first to be evicted
   * @returns false, and changes nothing, when the original is not `stored` any more: delete the bytes
   */
  finishDerivative(ref: FileRef, record: DerivativeRecord, use?: Use): Promise<boolean>
  /**
   * Adds a derivative that was found in the bucket, as `stored`, to an original in one of these states. An entry that exists is unchanged.
   * @param of default: `stored` @returns the entry after this step; undefined, and changes nothing, in other states
   */
  adoptDerivative(
    ref: FileRef,
    found: DerivativeRecord,
    of?: readonly ListedState[],
  ): Promise<DerivativeEntry | undefined>
  /** Replaces the record of a `stored` derivative. @returns false, and changes nothing, when `record` is not its current one */
  amendDerivative(ref: FileRef, record: DerivativeRecord, amended: DerivativeRecord): Promise<boolean>
  /**
   * Removes a derivative that is `pending` until `deadline` at the latest: one with a later deadline was begun again by
   * another process. The last one of a `gone` original also removes the tombstone.
   */
  dropDerivative(ref: FileRef, derivative: ObjectKey, deadline: number): Promise<void>
}

/** Lists, counts and search of originals. */
export interface FileLists extends FolderCounts, FolderKeys, FileSearch, Positions {
  /**
   * All originals, or those of one client, in no order. An entry that exists during the whole listing is returned, perhaps
   * twice; one that is added or removed in the meantime may be.
   */
  list(clientId?: string): AsyncIterable<IndexedFile>
  /** A part of a list. A file that is in this state during the whole listing is in exactly one part. */
  page(clientId: string, request: PageRequest): Promise<Page>
  /** Those of these originals that are in a state, with their positions in a list, in the order of `keys`. */
  pick(
    clientId: string,
    request: Pick<PageRequest, 'state' | 'by'> & { keys: readonly ObjectKey[] },
  ): Promise<readonly ListedFile[]>
  /** Stored and trashed originals with a key between two others, in the order of the bytes of their keys, with their derivatives. */
  filesBetween(clientId: string, range: KeyRange & { limit: number }): Promise<FilesBetween>
  totals(clientId: string): Promise<Totals>
  /** Whether the lists have all files, of all clients or of one: `markComplete` was called since the index was new or emptied. */
  isComplete(clientId?: string): Promise<boolean>
}

/** Sweeps, comparison with the buckets, and the connection itself. */
export interface IndexMaintenance extends IndexRuns, IndexUpkeep, RecordChanges {
  /** The entries that a sweep has to handle. */
  overdue(now: number): AsyncIterable<Overdue>
  /** @throws when the index is unavailable */
  ping(): Promise<void>
  close(): Promise<void>
}

/**
 * The index of originals and derivatives, as adapters implement it; services take the parts that they use. Every method is one atomic
 * step, durable when it resolves, except in `IndexUpkeep`. A crash between two steps leaves a state that `overdue` finds and a sweep
 * ends. The buckets are the source of truth: `adopt` and `adoptDerivative` fill an emptied index again.
 */
export interface FileIndex extends OriginalIndex, DerivativeIndex, FileLists, IndexMaintenance {}

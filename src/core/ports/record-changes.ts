import type { FileRef } from './file-index.ts'

/** A change of an original's record that is in progress: the bucket may have it, and the index may not. */
export interface RecordChange {
  ref: FileRef
  /** When a sweep takes its process for dead: milliseconds since 1970. */
  until: number
}

/** Marks by which a sweep finds the changes that a killed process has left. An emptied index loses them, and is compared as a whole. */
export interface RecordChanges {
  /** Before the record is put. */
  beginChange(change: RecordChange): Promise<void>
  /** Once bucket and index agree. Of equal ones: the caller is the only one that changes this record. */
  endChange(change: RecordChange): Promise<void>
  /** Those whose time is over, at most a thousand. */
  overdueChanges(now: number): Promise<RecordChange[]>
}

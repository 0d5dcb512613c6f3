import type { FileRef } from '../files/file-ref.ts'

/** A change of an original's record that is in progress: the bucket may have it, and the index may not. */
export interface RecordChange {
  ref: FileRef
  /** When a sweep considers its process dead: milliseconds since 1970. */
  until: number
}

/** Marks by which a sweep finds interrupted changes of killed processes. An emptied index loses them, and is compared as a whole. */
export interface RecordChanges {
  /** Called before the record is put. */
  beginChange(change: RecordChange): Promise<void>
  /** Called once bucket and index agree. The caller alone changes this record, so an equal mark is its own. */
  endChange(change: RecordChange): Promise<void>
  /** Changes that are overdue, at most a thousand. */
  overdueChanges(now: number): Promise<RecordChange[]>
}

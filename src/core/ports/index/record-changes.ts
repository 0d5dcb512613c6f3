import type { FileRef } from '../../files/file-ref.ts'

/** A change of an original's record that is in progress: the bucket may have the new record, and the index the old one. */
export interface RecordChange {
  ref: FileRef
  /** After this instant a sweep considers its process dead. Milliseconds since 1970. */
  until: number
}

/** Marks by which a sweep finds the changes that a killed process has left. An emptied index loses them, and is compared completely. */
export interface RecordChanges {
  /** Called before the record is put. */
  beginChange(change: RecordChange): Promise<void>
  /** Called when bucket and index agree. Only the caller changes this record, so an equal mark is its own. */
  endChange(change: RecordChange): Promise<void>
  /** Overdue changes, at most a thousand. */
  overdueChanges(now: number): Promise<RecordChange[]>
}

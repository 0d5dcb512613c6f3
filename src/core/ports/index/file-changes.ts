import type { FileRef } from '../../files/file-ref.ts'
import type { ObjectKey } from '../../files/object-key.ts'

/** A listener for changes of files. Both functions return at once. */
export interface FileChangeListener {
  /**
   * The state or the record of an original has changed, or may have changed.
   * @param derivative set when only this derivative of it has changed
   */
  changed(ref: FileRef, derivative?: ObjectKey): void
  /** Changes may have been missed: any file may have changed. */
  missed(): void
}

/**
 * The changes of files in the index, for caches in this process. A change by this process is reported before its caller knows that
 * it is complete. A change by another process is reported soon after.
 */
export interface FileChanges {
  listen(listener: FileChangeListener): void
  /** Until when all changes by other processes are known, as of `performance.now()`. In the past when they are not. */
  knownUntil(): number
}

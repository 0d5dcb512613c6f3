import type { ObjectKey } from '../../files/object-key.ts'

/** The originals of a client with the same id, nearly always one: a report does not always tell the key. */
export interface ChangedFile {
  clientId: string
  id: string
}

/** @param key of an original, or its id alone. All keys of an id have the same result */
export function changedFile(clientId: string, key: string): ChangedFile {
  const [id = ''] = key.slice(key.lastIndexOf('/') + 1).split('.', 1)
  return { clientId, id }
}

/** A listener for changes of files. Both functions return at once. */
export interface FileChangeListener {
  /**
   * The state or the record of one of these originals has changed, or may have changed.
   * @param derivative set when only this derivative has changed
   */
  changed(file: ChangedFile, derivative?: ObjectKey): void
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

import type { FileRef } from '../../core/files/file-ref.ts'
import type { ObjectKey } from '../../core/files/object-key.ts'
import type { FileIndex } from '../../core/ports/file-index.ts'
import {
  changedFile,
  type FileChangeListener,
  type FileChanges,
} from '../../core/ports/index/file-changes.ts'

/**
 * Wraps an index: each step that may end the delivery of a file, or change it, is reported before its promise settles. A failed
 * step is reported too, since the index may have executed it.
 *
 * @param others the changes by other processes; absent when there are no other processes
 */
export function watchedIndex(
  index: FileIndex,
  others?: FileChanges | undefined,
): { index: FileIndex; changes: FileChanges } {
  const listeners: FileChangeListener[] = []
  const report = async <T>(result: Promise<T>, ref: FileRef, derivative?: ObjectKey): Promise<T> => {
    try {
      return await result
    } finally {
      for (const { changed } of listeners) changed(changedFile(ref.clientId, ref.key), derivative)
    }
  }
  const watched: Partial<FileIndex> = {
    amend: (clientId, record, ...more) =>
      report(index.amend(clientId, record, ...more), { clientId, key: record.key }),
    amendDerivative: (ref, record, amended) =>
      report(index.amendDerivative(ref, record, amended), ref, record.key),
    trash: (ref, trash) => report(index.trash(ref, trash), ref),
    beginRemoval: (ref, options) => report(index.beginRemoval(ref, options), ref),
    // A stored derivative becomes pending: it is evicted, or its bytes are missing.
    beginDerivative: (ref, derivative, deadline, options) =>
      report(index.beginDerivative(ref, derivative, deadline, options), ref, derivative),
    beginEviction: (ref, derivative, deadline) =>
      report(index.beginEviction(ref, derivative, deadline), ref, derivative),
  }
  return {
    // Everything else is that of the index itself.
    index: Object.setPrototypeOf(watched, index),
    changes: {
      listen(listener) {
        listeners.push(listener)
        others?.listen(listener)
      },
      knownUntil: () => others?.knownUntil() ?? Number.POSITIVE_INFINITY,
    },
  }
}

import type { FileRef } from '../../../core/files/file-ref.ts'
import { partitionHashOfKey } from '../../../core/files/partition.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'

/** Whether a file has to be compared. */
export type IsDue = (ref: FileRef) => Promise<boolean>

/** Whether lists, counters and search have all files. */
export async function isWhole(index: FileIndex): Promise<boolean> {
  return (await index.isComplete()) && (await index.isCounted()) && (await index.canSearch())
}

/**
 * In a cluster, only the files of partitions whose node was restarted since their last comparison. All files, when lists, counters
 * or search are incomplete. It asks once per partition.
 */
export async function dueFiles(index: FileIndex): Promise<IsDue> {
  if (!(await isWhole(index))) return async () => true
  const known = new Map<string, Promise<boolean>>()
  return (ref) => {
    const name = `${partitionHashOfKey(ref.key)} ${ref.clientId}`
    const isDue = known.get(name) ?? index.run(ref).then(({ isCompared }) => !isCompared)
    known.set(name, isDue)
    return isDue
  }
}

import type { FileRef } from '../../../core/files/file-ref.ts'
import { partitionHashOfKey } from '../../../core/files/partition.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import type { Pass } from './compare-batch.ts'

/**
 * In a cluster, only the files of partitions whose lists were lost, or whose node was restarted since their last comparison. It asks
 * once for each partition hash of each client.
 */
export function dueFiles(index: FileIndex, pass: Pass): (ref: FileRef) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  const isDone = async (ref: FileRef) =>
    pass === 'originals' ? index.isWhole(ref) : (await index.run(ref)).isCompared
  return (ref) => {
    const name = `${partitionHashOfKey(ref.key)} ${ref.clientId}`
    const isDue = known.get(name) ?? isDone(ref).then((done) => !done)
    known.set(name, isDue)
    return isDue
  }
}

import crc32 from 'crc-32'
import type { FileRef } from '../../../core/files/file-ref.ts'
import { PARTITIONS, partitionHashOfKey } from '../../../core/files/partition.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'

/** Which partitions have the files of a client. Each function rejects with a Problem 503 when that cannot be found out. */
export interface Partitions {
  /** All of them: {@link PARTITIONS}. */
  all: readonly FileIndex[]
  /** Those with the files of a client. */
  ofClient(clientId: string): Promise<readonly FileIndex[]>
  /** The one with this file. */
  ofFile(ref: FileRef): Promise<FileIndex>
}

/** The number of the first partition of a client. */
export function firstPartition(clientId: string): number {
  return (crc32.str(clientId) >>> 0) % PARTITIONS
}

/** @param options.perClient among how many partitions the files of a client are divided, from 1 to {@link PARTITIONS} */
export function partitionsOf(
  all: readonly FileIndex[],
  { perClient }: { perClient(clientId: string): Promise<number> },
): Partitions {
  /** @throws Error when the number is unusable, since files would be missing in silence */
  const countOf = async (clientId: string) => {
    const count = await perClient(clientId)
    if (!Number.isInteger(count) || count < 1 || count > PARTITIONS)
      throw new Error(`expected 1 to ${PARTITIONS} partitions per client, received ${count}`)
    return count
  }
  const at = (clientId: string, number: number, count: number) =>
    all[(firstPartition(clientId) + number * Math.floor(PARTITIONS / count)) % PARTITIONS] as FileIndex
  return {
    all,
    async ofClient(clientId) {
      const count = await countOf(clientId)
      return Array.from({ length: count }, (_, number) => at(clientId, number, count))
    },
    async ofFile({ clientId, key }) {
      const count = await countOf(clientId)
      return at(clientId, Math.floor((partitionHashOfKey(key) * count) / PARTITIONS), count)
    },
  }
}

/** Groups items by the partition of each. */
export async function groupedBy<T>(
  items: readonly T[],
  partitionOf: (item: T) => Promise<FileIndex>,
): Promise<Map<FileIndex, T[]>> {
  const groups = new Map<FileIndex, T[]>()
  for (const item of items) {
    const index = await partitionOf(item)
    groups.set(index, [...(groups.get(index) ?? []), item])
  }
  return groups
}

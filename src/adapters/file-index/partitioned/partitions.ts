import crc32 from 'crc-32'
import { CELLS, cellOfKey } from '../../../core/files/cell.ts'
import type { FileRef } from '../../../core/files/file-ref.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'

/** Which partitions have the files of a client. Each function rejects with a Problem 503 when that cannot be found out. */
export interface Partitions {
  /** All of them: {@link CELLS}. */
  all: readonly FileIndex[]
  /** Those with the files of a client. */
  ofClient(clientId: string): Promise<readonly FileIndex[]>
  /** The one with this file. */
  ofFile(ref: FileRef): Promise<FileIndex>
}

/** The number of the first partition of a client. */
export function homeOf(clientId: string): number {
  return (crc32.str(clientId) >>> 0) % CELLS
}

/** @param options.perClient among how many partitions the files of a client are divided, from 1 to {@link CELLS} */
export function partitionsOf(
  all: readonly FileIndex[],
  { perClient }: { perClient(clientId: string): Promise<number> },
): Partitions {
  const at = (clientId: string, share: number, shares: number) =>
    all[(homeOf(clientId) + share * Math.floor(CELLS / shares)) % CELLS] as FileIndex
  return {
    all,
    async ofClient(clientId) {
      const shares = await perClient(clientId)
      return Array.from({ length: shares }, (_, share) => at(clientId, share, shares))
    },
    async ofFile({ clientId, key }) {
      const shares = await perClient(clientId)
      return at(clientId, Math.floor((cellOfKey(key) * shares) / CELLS), shares)
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

import crc32 from 'crc-32'
import type { FileRef } from '../../../core/files/file-ref.ts'
import { PARTITIONS, partitionHashOfKey } from '../../../core/files/partition.ts'

/**
 * Among how many partitions the files of a client are divided, from 1 to {@link PARTITIONS}. The two numbers differ during a move.
 * Then one of them is 1, and a file is in the partition by `from` until it is pulled into the one by `to`. A process pulls a file
 * before it changes it.
 */
export interface Division {
  from: number
  to: number
  /** From 0. It grows with each begin and each end of a move: it is odd during a move. */
  epoch: number
}

/** The number of the first partition of a client. */
export function firstPartition(clientId: string): number {
  return (crc32.str(clientId) >>> 0) % PARTITIONS
}

/** The numbers of the partitions of a client. */
export function partitionNumbers(clientId: string, count: number): number[] {
  return Array.from({ length: count }, (_, i) => numberAt(clientId, i, count))
}

/** The number of the partition with a file. */
export function partitionNumber({ clientId, key }: FileRef, count: number): number {
  return numberAt(clientId, Math.floor((partitionHashOfKey(key) * count) / PARTITIONS), count)
}

function numberAt(clientId: string, i: number, count: number): number {
  return (firstPartition(clientId) + i * Math.floor(PARTITIONS / count)) % PARTITIONS
}

/** The numbers of the partitions that may have a file, in the order in which they are read. */
export function placesBy(ref: FileRef, { from, to }: Division): number[] {
  return [...new Set([partitionNumber(ref, from), partitionNumber(ref, to)])]
}

/** The numbers of the partitions that files leave: the only one before a move to several, or all others than the one after a move. */
export function leavingBy(clientId: string, { from, to }: Division): number[] {
  if (from === to) return []
  const before = partitionNumbers(clientId, from)
  return from === 1 ? before : before.filter((number) => !partitionNumbers(clientId, to).includes(number))
}

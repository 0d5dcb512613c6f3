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

/** The number of the partition of each file of a client, by the hash of its id. */
export function partitionsByHash(clientId: string, count: number): number[] {
  return Array.from({ length: PARTITIONS }, (_, hash) =>
    numberAt(clientId, Math.floor((hash * count) / PARTITIONS), count),
  )
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

/** The text of a division in Redis: `64` before the first move, `64>1@1` during it, `1@2` after it. */
export function textOf({ from, to, epoch }: Division): string {
  const numbers = from === to ? String(to) : `${from}>${to}`
  return epoch === 0 ? numbers : `${numbers}@${epoch}`
}

/** The division in a text. @throws Error for a text that this version does not know, since files would be missing in silence */
export function divisionIn(text: string): Division {
  const [, from, to = from, epoch = 0] = /^(\d+)(?:>(\d+))?(?:@(\d+))?$/.exec(text) ?? []
  if (from === undefined)
    throw new Error(`expected 1 to ${PARTITIONS} partitions per client, received "${text}"`)
  return { from: Number(from), to: Number(to), epoch: Number(epoch) }
}

import crc32 from 'crc-32'
import type { FileRef } from '../../../core/files/file-ref.ts'
import { PARTITIONS, partitionHashOfKey } from '../../../core/files/partition.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'

/** Among how many partitions the files of a client are divided, from 1 to {@link PARTITIONS}; or a move of them. */
export type Division = number | Move

/**
 * A move of a client's files to other partitions. One of the numbers is 1. A file is in the partition by `from` until it is pulled
 * into the one by `to`. Whoever changes a file pulls it first, so the partition by `from` never changes a file.
 */
export interface Move {
  from: number
  to: number
  /** The name of the move. */
  id: string
}

/** Moves a file from its partition before a move to that after it. It does nothing when the first one does not have the file. */
export type Pull = (ref: FileRef, move: Move) => Promise<unknown>

export interface PartitionsOptions {
  perClient(clientId: string): Promise<Division>
  /** Only for moves. */
  pull?: Pull
}

/**
 * Those with the files of a client. During a move, files go from those that are `left` to the others. A read of several partitions
 * reads these first: then a file that moves in the meantime is in one of them or in both, but not missing.
 */
export interface OfClient {
  left: readonly FileIndex[]
  others: readonly FileIndex[]
}

/** Which partitions have the files of a client. Each function rejects with a Problem 503 when that cannot be found out. */
export interface Partitions {
  /** All of them: {@link PARTITIONS}. */
  all: readonly FileIndex[]
  ofClient(clientId: string): Promise<OfClient>
  /** The one with this file, for a change. The file is there when the promise resolves. */
  ofFile(ref: FileRef): Promise<FileIndex>
  /** Those that may have this file, in the order in which they are read. One, or two during a move. The last one gets all changes. */
  placesOf(ref: FileRef): Promise<readonly [FileIndex, ...FileIndex[]]>
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

export function partitionsOf(all: readonly FileIndex[], { perClient, pull }: PartitionsOptions): Partitions {
  const indexAt = (number: number) => all[number] as FileIndex
  /** @throws Error when a number is unusable, since files would be missing in silence */
  const divisionOf = async (clientId: string) => {
    const division = await perClient(clientId)
    const counts = typeof division === 'number' ? [division] : [division.from, division.to]
    for (const count of counts)
      if (!Number.isInteger(count) || count < 1 || count > PARTITIONS)
        throw new Error(`expected 1 to ${PARTITIONS} partitions per client, received ${count}`)
    return division
  }
  /** The numbers of the partitions that may have a file, in the order in which they are read. */
  const numbersOf = async (ref: FileRef) => {
    const division = await divisionOf(ref.clientId)
    if (typeof division === 'number') return { numbers: [partitionNumber(ref, division)] as const }
    const [from, to] = [partitionNumber(ref, division.from), partitionNumber(ref, division.to)]
    return from === to ? { numbers: [to] as const } : { numbers: [from, to] as const, move: division }
  }
  return {
    all,
    async ofClient(clientId) {
      const division = await divisionOf(clientId)
      if (typeof division === 'number')
        return { left: [], others: partitionNumbers(clientId, division).map(indexAt) }
      const [before, after] = [division.from, division.to].map((count) => partitionNumbers(clientId, count))
      const left = leftOf(before as number[], after as number[])
      const others = [...new Set([...(before as number[]), ...(after as number[])])]
      return {
        left: left.map(indexAt),
        others: others.filter((number) => !left.includes(number)).map(indexAt),
      }
    },
    async ofFile(ref) {
      const { numbers, move } = await numbersOf(ref)
      const [from, to = from] = numbers
      if (move !== undefined) {
        if (!pull) throw new Error('expected no move of partitions')
        await pull(ref, move)
      }
      return indexAt(to)
    },
    async placesOf(ref) {
      const { numbers } = await numbersOf(ref)
      const [first, ...more] = numbers
      return [indexAt(first), ...more.map(indexAt)]
    },
  }
}

/** The partitions that files leave. From one partition, they leave this one; to one partition, they leave all others. */
export function leftOf(before: readonly number[], after: readonly number[]): number[] {
  if (before.length === 1) return [...before]
  return before.filter((number) => !after.includes(number))
}

/** Asks all partitions of a client, in the order in which they are read. */
export async function askEach<T>(
  { left, others }: OfClient,
  ask: (index: FileIndex) => Promise<T>,
): Promise<T[]> {
  const first = await Promise.all(left.map(ask))
  return [...first, ...(await Promise.all(others.map(ask)))]
}

/** Groups items by the partition of each. */
export async function groupedBy<T>(
  items: readonly T[],
  partitionOf: (item: T) => Promise<FileIndex>,
): Promise<Map<FileIndex, T[]>> {
  const partitions = await Promise.all(items.map(partitionOf))
  const groups = new Map<FileIndex, T[]>()
  for (const [i, item] of items.entries()) {
    const index = partitions[i] as FileIndex
    groups.set(index, [...(groups.get(index) ?? []), item])
  }
  return groups
}

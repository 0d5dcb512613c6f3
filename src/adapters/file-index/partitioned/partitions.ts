import type { FileRef } from '../../../core/files/file-ref.ts'
import { PARTITIONS } from '../../../core/files/partition.ts'
import type { FileIndex } from '../../../core/ports/file-index.ts'
import { unavailable } from '../../../core/problem.ts'
import { StaleDivision } from '../fence.ts'
import { type Division, leavingBy, partitionNumber, partitionNumbers, placesBy } from './division.ts'

export interface PartitionsOptions {
  /** The division of a client, which may be old by some seconds. */
  division(clientId: string): Promise<Division>
  /** The current one. @param least the epoch that a partition has */
  currentDivision(clientId: string, least?: number): Promise<Division>
  /** The greatest epoch of a client that a partition knows, from 0. */
  epochIn(number: number, clientId: string): Promise<number>
  /** A partition for steps by a division. Its steps reject with StaleDivision when the client has another one. */
  fenced(number: number, epoch: number): FileIndex
  /** Moves files of one client into their partitions by a division. Only for moves. */
  pull(refs: readonly FileRef[], division: Division): Promise<unknown>
}

/**
 * The partitions that have files of a client. During a move, files go from the `leaving` ones to the `remaining` ones. A read of several
 * partitions reads the former first: then a file that moves in the meantime is in one of them or in both, but not missing.
 */
export interface OfClient {
  leaving: readonly FileIndex[]
  remaining: readonly FileIndex[]
  /** Those that may have a file, in the order in which they are read. One, or two during a move. The last one gets all changes. */
  placesOf(key: FileRef['key']): readonly [FileIndex, ...FileIndex[]]
}

/** Which partitions have the files of a client. Each function rejects with a Problem 503 when that cannot be found out. */
export interface Partitions {
  /** All of them: {@link PARTITIONS}. */
  all: readonly FileIndex[]
  /** By a division that may be old. */
  ofClient(clientId: string): Promise<OfClient>
  /** Reads lists of a client. It reads again when the files have begun to move in the meantime. */
  read<T>(clientId: string, ask: (of: OfClient) => Promise<T>): Promise<T>
  /** Reads a file. `ask` returns undefined when a partition does not have it. */
  find<T>(ref: FileRef, ask: (index: FileIndex) => Promise<T | undefined>): Promise<T | undefined>
  /**
   * Executes a step on files of one client, in the one partition that has them then. It may call `act` again.
   * @throws Error when they are in several partitions
   */
  change<T>(refs: readonly [FileRef, ...FileRef[]], act: (index: FileIndex) => Promise<T>): Promise<T>
  /** All partitions that may have anything of a file, also after a move. */
  everywhere(ref: FileRef): Promise<readonly FileIndex[]>
}

// Each attempt knows a later division than the one before it. Few moves begin and end at the same time.
const ATTEMPTS = 5

export function partitionsOf(all: readonly FileIndex[], options: PartitionsOptions): Partitions {
  const { fenced, pull } = options
  function indexAt(number: number): FileIndex {
    return all[number] as FileIndex
  }
  const divisionOf = async (clientId: string) => checked(await options.division(clientId))
  const currentOf = async (clientId: string, least?: number) =>
    checked(await options.currentDivision(clientId, least))

  /** Calls until the division is the same after as before. */
  async function settled<T>(
    clientId: string,
    ask: (division: Division) => Promise<T>,
    isFinal: (answer: T, division: Division) => Promise<boolean> = async () => false,
  ): Promise<T> {
    let division = await divisionOf(clientId)
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const answer = await ask(division)
      if (await isFinal(answer, division)) return answer
      const after = await currentOf(clientId)
      if (after.epoch === division.epoch) return answer
      division = after
    }
    throw movesOften()
  }

  /**
   * Whether the places of a file by a division have been its places until now. Before a file leaves one of them, or is added elsewhere
   * by a later division, this one gets the epoch of it. So a file that was missing in them is nowhere, and the node of the client's
   * first partition need not be asked.
   */
  async function isLast(ref: FileRef, division: Division): Promise<boolean> {
    const places = placesBy(ref, division)
    const epochs = await Promise.all(places.map((number) => options.epochIn(number, ref.clientId)))
    return Math.max(...epochs) <= division.epoch
  }

  return {
    all,
    ofClient: async (clientId) => ofClientBy(clientId, await divisionOf(clientId), indexAt),
    read: (clientId, ask) => settled(clientId, (division) => ask(ofClientBy(clientId, division, indexAt))),
    /** By an old division, a file is found where it has not moved yet. Otherwise it may have moved. */
    find: (ref, ask) =>
      settled(
        ref.clientId,
        async (division) => {
          const [old, now] = placesBy(ref, division).map(indexAt) as [FileIndex, FileIndex?]
          if (!now) return ask(old)
          const [before, after] = await Promise.all([ask(old), ask(now)])
          return after ?? before ?? ask(now)
        },
        async (answer, division) => answer !== undefined || (await isLast(ref, division)),
      ),
    async change(refs, act) {
      const [{ clientId }] = refs
      let division = await divisionOf(clientId)
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1)
        try {
          const { from, to, epoch } = division
          const numbers = [...new Set(refs.map((ref) => partitionNumber(ref, to)))]
          const [number] = numbers as [number]
          if (numbers.length > 1)
            throw new Error(`expected files of one partition, received files of ${numbers.length}`)
          const leaving = refs.filter((ref) => partitionNumber(ref, from) !== number)
          if (leaving.length > 0) await pull(leaving, division)
          return await act(fenced(number, epoch))
        } catch (error) {
          if (!(error instanceof StaleDivision)) throw error
          division = await currentOf(clientId, error.epoch)
        }
      throw movesOften()
    },
    async everywhere(ref) {
      const { from, to, epoch } = await divisionOf(ref.clientId)
      const counts = epoch === 0 ? [to] : [from, to, 1, PARTITIONS]
      return [...new Set(counts.map((count) => partitionNumber(ref, count)))].map(indexAt)
    },
  }
}

/** @throws Error when a number is unusable, since files would be missing in silence */
function checked(division: Division): Division {
  for (const count of [division.from, division.to])
    if (!Number.isInteger(count) || count < 1 || count > PARTITIONS)
      throw new Error(`expected 1 to ${PARTITIONS} partitions per client, received ${count}`)
  return division
}

function movesOften(): Error {
  return unavailable('The files of this client move. Retry in a second.')
}

function ofClientBy(clientId: string, division: Division, indexAt: (number: number) => FileIndex): OfClient {
  const leaving = leavingBy(clientId, division)
  const numbers = [division.from, division.to].flatMap((count) => partitionNumbers(clientId, count))
  const remaining = [...new Set(numbers)].filter((number) => !leaving.includes(number))
  return {
    leaving: leaving.map(indexAt),
    remaining: remaining.map(indexAt),
    placesOf: (key) => placesBy({ clientId, key }, division).map(indexAt) as [FileIndex, ...FileIndex[]],
  }
}

/** Asks all partitions of a client, in the order in which they are read. */
export async function askEach<T>(
  { leaving, remaining }: Pick<OfClient, 'leaving' | 'remaining'>,
  ask: (index: FileIndex) => Promise<T>,
): Promise<T[]> {
  const first = await Promise.all(leaving.map(ask))
  return [...first, ...(await Promise.all(remaining.map(ask)))]
}

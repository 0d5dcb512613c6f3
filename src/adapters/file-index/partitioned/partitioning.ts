import { setTimeout as pause } from 'node:timers/promises'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import type { FileRef } from '../../../core/files/file-ref.ts'
import { PARTITIONS, partitionHash, partitionHashOfKey } from '../../../core/files/partition.ts'
import type { MoveOptions, Partitioning } from '../../../core/ports/index/partitioning.ts'
import { isUnavailable } from '../../../core/problem.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { fenceOf, raiseFence, StaleDivision } from '../fence.ts'
import { type Division, divisionIn, leavingBy, partitionsByHash } from './division.ts'
import type { Divisions } from './divisions.ts'
import type { MoveTimes } from './move-times.ts'
import type { MovesNoted } from './moves-noted.ts'
import { dropFrom, PULLED_AT_ONCE, pullFiles } from './pull.ts'
import { clusterWalks, type Placed } from './walks.ts'

// Groups of files at a time. In a move to one partition, their scripts wait for each other on one node, and requests wait for all of them.
const CONCURRENCY = 2
const ALL = Array.from({ length: PARTITIONS }, (_, number) => number)

/** What a call has done so far. */
interface Done {
  files: number
  isChanged: boolean
  /** The first failure since it last succeeded: an instant of a clock that never goes back. */
  failedAt: number | undefined
}

/** Moves the files of a client in a Redis Cluster. */
export function clusterPartitioning(
  keyspaces: readonly RedisKeyspace[],
  {
    divisions,
    moves,
    times,
  }: {
    divisions: Pick<Divisions, 'read' | 'peek' | 'change'>
    moves: MovesNoted
    times: MoveTimes
  },
): Partitioning {
  const walks = clusterWalks(keyspaces)
  const keyspaceOf = (number: number) => keyspaces[number] as RedisKeyspace

  /** @returns how many partitions did not have this epoch */
  async function raiseAll(clientId: string, epoch: number): Promise<number> {
    const raised = await Promise.all(
      keyspaces.map(({ redis, keyPrefix }) =>
        raiseFence(redis, { keys: [], fence: fenceOf(keyPrefix, clientId), epoch }, []),
      ),
    )
    return raised.filter((answer) => answer === 1).length
  }

  /** Until each fence has been there for so long that no node loses it any more. */
  async function raiseDurably(clientId: string, epoch: number, signal: AbortSignal): Promise<void> {
    while ((await raiseAll(clientId, epoch)) > 0) await waited(times.durableMs, signal)
  }

  /**
   * Removes copies of files from partitions that they do not belong to: a node that has lost its last changes may have left it. Otherwise it would
   * count as newer than the files that are about to move.
   */
  async function removeStrays(
    clientId: string,
    { to, epoch }: Division,
    { signal, progress }: MoveOptions,
  ): Promise<void> {
    let read = 0
    const home = partitionsByHash(clientId, to)
    const isStray = (id: string, number: number) => {
      read += 1
      return home[partitionHash(id)] !== number
    }
    const strays = async function* () {
      let reported = 0
      for await (const page of walks.placed(clientId, ALL, isStray)) {
        signal.throwIfAborted()
        if (read - reported >= 1000) {
          reported = read
          await progress({ phase: 'preparing', files: read })
        }
        yield* page
      }
    }
    const work = ({ ref, number }: Placed) => dropFrom(keyspaceOf(number), [ref], epoch)
    for await (const _ of mapConcurrent(strays(), { concurrency: CONCURRENCY, signal, work }));
  }

  /** Pulls those of these files that a move leaves in another partition. @returns how many there were */
  async function pullAll(
    clientId: string,
    files: AsyncIterable<Placed[]>,
    move: Division,
    { signal, progress, done }: MoveOptions & { done: Done },
  ): Promise<number> {
    const before = done.files
    const work = (refs: readonly FileRef[]) => pullFiles(refs, move, keyspaces)
    for await (const pulled of mapConcurrent(batchesOf(clientId, files, move), {
      concurrency: CONCURRENCY,
      signal,
      work,
    })) {
      done.files += pulled
      await progress({ phase: 'moving', files: done.files })
    }
    return done.files - before
  }

  /**
   * The lists have nearly all files. The walk over all keys finds those that an older version has left out of the lists. When it finds
   * nothing, the files that were pulled before it have left their old partitions for so long that no node brings one back. A request
   * may have pulled another one during the walk. Nothing reads its old partition after the end, except for the first partition: when its
   * node brings back an old copy, it has lost the end of the move, too.
   */
  async function moveAll(clientId: string, move: Division, options: MoveOptions & { done: Done }) {
    const leaving = leavingBy(clientId, move)
    const after = partitionsByHash(clientId, move.to)
    const isLeft = (id: string, number: number) => after[partitionHash(id)] !== number
    do {
      while ((await pullAll(clientId, walks.listed(clientId, leaving), move, options)) > 0);
      await waited(times.durableMs, options.signal)
    } while ((await pullAll(clientId, walks.placed(clientId, leaving, isLeft), move, options)) > 0)
  }

  /** Waits until a move may end. @returns whether it had to wait: a node has failed, which may have brought back old copies */
  async function waitedForEnd({ mayEnd, progress, signal }: MoveOptions): Promise<boolean> {
    let hasWaited = false
    while (!(await mayEnd())) {
      hasWaited = true
      await progress({ phase: 'ending', files: 0 })
      await waited(times.retryMs, signal)
    }
    return hasWaited
  }

  /**
   * Does the next part of a move: its begin, or all the rest. A node may lose the begin or the end, so both are read again.
   * @returns whether the client has this number
   */
  async function moveOnce(clientId: string, to: number, options: MoveOptions & { done: Done }) {
    const division = await divisions.read(clientId)
    if (division.from === division.to) {
      if (division.to === to) {
        if (division.epoch > 0) await moves.note(clientId, division)
        return true
      }
      await removeStrays(clientId, division, options)
      const move = { ...division, to, epoch: division.epoch + 1 }
      await moves.note(clientId, move)
      if (await divisions.change(clientId, division, move)) options.done.isChanged = true
      return false
    }
    if (division.to !== to)
      throw new Error(`expected a move to ${division.to} partitions, which is not complete, received ${to}`)
    options.done.isChanged = true
    await raiseDurably(clientId, division.epoch, options.signal)
    do await moveAll(clientId, division, options)
    while (await waitedForEnd(options))
    const ended = { from: to, to, epoch: division.epoch + 1 }
    if (await divisions.change(clientId, division, ended))
      await raiseDurably(clientId, ended.epoch, options.signal)
    return false
  }

  return {
    async of(clientId) {
      const { from, to } = await divisions.peek(clientId)
      return from === to ? { partitions: to } : { partitions: from, movingTo: to }
    },

    async moves() {
      const divisions = Object.values(await moves.read()).map(divisionIn)
      return divisions.filter(({ from, to }) => from !== to).length
    },

    async end(clientId) {
      let division = await divisions.peek(clientId)
      const { from, to, epoch } = division
      if (from !== to) {
        const ended = { from: to, to, epoch: epoch + 1 }
        if (await divisions.change(clientId, division, ended)) division = ended
      }
      if (epoch === 0) return
      // This removes the sets of deleted files, and refuses steps of the move.
      await raiseAll(clientId, division.epoch)
      await moves.note(clientId, division)
    },

    async move(clientId, to, options) {
      const done: Done = { files: 0, isChanged: false, failedAt: undefined }
      const progress: MoveOptions['progress'] = async (now) => {
        done.failedAt = undefined
        await options.progress(now)
      }
      for (;;) {
        options.signal.throwIfAborted()
        try {
          const isComplete = await moveOnce(clientId, to, { ...options, progress, done })
          done.failedAt = undefined
          if (isComplete) return { partitions: to, isChanged: done.isChanged, files: done.files }
        } catch (error) {
          if (error instanceof StaleDivision) await divisions.read(clientId, error.epoch)
          else {
            const now = performance.now()
            done.failedAt ??= now
            if (!isUnavailable(error) || now - done.failedAt > times.patienceMs) throw error
            await waited(times.retryMs, options.signal)
          }
        }
      }
    },
  }
}

/** The files of a walk that a move leaves elsewhere, in batches of the same two partitions. */
async function* batchesOf(
  clientId: string,
  pages: AsyncIterable<Placed[]>,
  { from, to }: Division,
): AsyncIterable<FileRef[]> {
  const [before, after] = [from, to].map((count) => partitionsByHash(clientId, count)) as [number[], number[]]
  const batches = new Map<number, FileRef[]>()
  for await (const page of pages)
    for (const { ref, number } of page) {
      const hash = partitionHashOfKey(ref.key)
      if (before[hash] === after[hash] || number !== before[hash]) continue
      const pair = number * PARTITIONS + (after[hash] as number)
      const batch = batches.get(pair) ?? []
      batches.set(pair, batch)
      batch.push(ref)
      if (batch.length < PULLED_AT_ONCE) continue
      batches.delete(pair)
      yield batch
    }
  yield* batches.values()
}

async function waited(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => signal.throwIfAborted())
}

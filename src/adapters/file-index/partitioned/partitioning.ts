import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { mapConcurrent } from '../../../core/async/map-concurrent.ts'
import { PARTITIONS } from '../../../core/files/partition.ts'
import type { MoveOptions, Partitioning } from '../../../core/ports/index/partitioning.ts'
import { unavailable } from '../../../core/problem.ts'
import type { RedisKeyspace } from '../../redis/keyspaces.ts'
import { redisChanges } from '../redis/changes.ts'
import { nameOf, refNamed } from '../redis/names.ts'
import { keyNames } from '../redis/redis.ts'
import type { Divisions } from './divisions.ts'
import { leftOf, type Move, partitionNumber, partitionNumbers } from './partitions.ts'
import { dropCopy, pullFile } from './pull.ts'
import { clusterWalks, type Placed } from './walks.ts'

// Files that move at the same time.
const CONCURRENCY = 16
const ALL = Array.from({ length: PARTITIONS }, (_, number) => number)

/** Moves the files of a client in a Redis Cluster. */
export function clusterPartitioning(
  keyspaces: readonly RedisKeyspace[],
  divisions: Pick<Divisions, 'read' | 'look' | 'begin' | 'end'>,
): Partitioning {
  const walks = clusterWalks(keyspaces)
  const keyspaceOf = (number: number) => keyspaces[number] as RedisKeyspace

  /**
   * Removes what is in no partition of the client: a node that has lost the record of an earlier move has left it. Otherwise it would
   * count as newer than the files that are about to move.
   */
  async function removeStrays(clientId: string, count: number, signal: AbortSignal): Promise<void> {
    const drop = async ({ ref, number }: Placed) => {
      if (partitionNumber(ref, count) !== number) await dropCopy(ref, keyspaceOf(number))
    }
    const dropping = mapConcurrent(walks.placed(clientId, ALL), {
      concurrency: CONCURRENCY,
      signal,
      work: drop,
    })
    for await (const _ of dropping);
  }

  /** Stores a move, unless the client has one. */
  async function begin(clientId: string, to: number, signal: AbortSignal): Promise<Move | undefined> {
    for (;;) {
      const { division } = await divisions.read(clientId)
      if (typeof division === 'object') {
        if (division.to === to) return division
        throw new Error(`expected a move to ${division.to} partitions, which is not complete, received ${to}`)
      }
      if (division === to) return undefined
      await removeStrays(clientId, division, signal)
      const move = { from: division, to, id: randomUUID() }
      if (await divisions.begin(clientId, move)) return move
    }
  }

  async function waitUntilBegun(clientId: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      const { remainingMs } = await divisions.read(clientId)
      if (remainingMs === 0) return
      await pause(remainingMs, undefined, { signal }).catch(() => signal.throwIfAborted())
    }
  }

  /** Pulls those of these files that a move leaves in another partition. @returns how many there were */
  async function pullAll(files: AsyncIterable<Placed>, move: Move, options: MoveOptions & { done: number }) {
    let pulled = 0
    const work = async ({ ref, number }: Placed) => {
      const [from, to] = [partitionNumber(ref, move.from), partitionNumber(ref, move.to)]
      if (from === to || number !== from) return false
      return pullFile(ref, move, keyspaces)
    }
    for await (const isMoved of mapConcurrent(files, {
      concurrency: CONCURRENCY,
      signal: options.signal,
      work,
    })) {
      if (!isMoved) continue
      pulled += 1
      await options.progress(options.done + pulled)
    }
    return pulled
  }

  /** The lists have nearly all files. The walk over all keys finds those that an older version has left out of the lists. */
  async function moveAll(clientId: string, move: Move, options: MoveOptions): Promise<number> {
    const left = leftOf(partitionNumbers(clientId, move.from), partitionNumbers(clientId, move.to))
    let done = 0
    for (let isComplete = false; !isComplete; ) {
      const before = done
      for (const walk of [walks.listed, walks.placed])
        done += await pullAll(walk(clientId, left), move, { ...options, done })
      isComplete = done === before
    }
    for (const number of left) await moveChanges(clientId, number, move)
    return done
  }

  /** Moves the marks of changes in progress. One that ends in the meantime may remain: then a sweep finds no difference, and ends it. */
  async function moveChanges(clientId: string, number: number, move: Move): Promise<void> {
    const changesIn = ({ redis, keyPrefix }: RedisKeyspace) =>
      redisChanges(redis, { set: keyNames(keyPrefix).changes, nameOf, refNamed })
    for await (const change of walks.changes(clientId, number)) {
      const to = partitionNumber(change.ref, move.to)
      if (to === number) continue
      await changesIn(keyspaceOf(to)).beginChange(change)
      await changesIn(keyspaceOf(number)).endChange(change)
    }
  }

  return {
    async of(clientId) {
      const { division } = await divisions.look(clientId)
      if (typeof division === 'number') return { partitions: division }
      return { partitions: division.from, movingTo: division.to }
    },

    async move(clientId, to, options) {
      const move = await begin(clientId, to, options.signal)
      if (!move) return { partitions: to, isChanged: false, files: 0 }
      await waitUntilBegun(clientId, options.signal)
      const files = await moveAll(clientId, move, options)
      if (!(await divisions.end(clientId, move)))
        throw unavailable('A node of Redis has lost the record of the move. Run the command again.')
      return { partitions: to, isChanged: true, files }
    },
  }
}

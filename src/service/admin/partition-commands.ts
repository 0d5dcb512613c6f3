import { z } from 'zod'
import type { PartitionedClient, PartitionReport } from '../../core/clients/partitioned-client.ts'
import type { ShownClient } from '../../core/clients/shown-client.ts'
import type { CommandRun, Commands } from '../../core/command.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { FileLists, IndexMaintenance } from '../../core/ports/file-index.ts'
import type { MoveProgress, PartitionCount, Partitioning } from '../../core/ports/index/partitioning.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { isUnavailable, unavailable } from '../../core/problem.ts'
import { clientConflict, noSuchClient } from '../clients/change-existing.ts'
import { command, throttledProgress } from './commands.ts'

export interface PartitionOptions {
  store: ClientStore
  index: FileLists & IndexMaintenance
  locks: Locks
  /** Absent when the index has no partitions. */
  partitioning?: Partitioning
}

/** The progress of each phase, from the files so far and those of the client. */
const PROGRESS: Record<MoveProgress['phase'], (files: number, all: number) => object> = {
  preparing: (files) => ({ 'files read before the move': files }),
  moving: (files, all) => ({ 'files moved by this command': files, 'files of the client': all }),
  ending: (_, all) => ({ 'files moved, waiting for the comparison of the index': all }),
}

// 50 million files take less than a day.
const LIMIT_MS = 7 * 24 * 3_600_000

/** The same commands with `client partition`. Those that show clients also show their partitions. */
export function withPartitions(
  commands: Commands,
  { store, index, locks, partitioning }: PartitionOptions,
): Commands {
  const withOwn = async (client: ShownClient): Promise<PartitionedClient> => ({
    ...client,
    // A client is also shown while the node is down that has this.
    ...(await partitioning?.of(client.id).catch((error) => {
      if (!isUnavailable(error)) throw error
    })),
  })
  const shown = (name: string, add: (result: never) => Promise<unknown>): Commands => ({
    [name]: async (args, run) => add((await commands[name]?.(args, run)) as never),
  })

  /** @throws Problem 404 for an unknown client, 409 where this number is impossible now, 503 when the index is incomplete */
  async function partition(
    id: string,
    partitions: PartitionCount,
    { signal, report }: CommandRun,
  ): Promise<PartitionReport> {
    await store.refresh()
    if (!store.find(id)) throw noSuchClient(id)
    if (!partitioning)
      throw clientConflict(
        'Only the index in a Redis Cluster has partitions. Set REDIS_URL to redis+cluster://… to use one.',
      )
    const startedAt = performance.now()
    const { stored, trashed } = await index.totals(id)
    const progress = throttledProgress(report)
    const moved = await locks.share(
      `partitions of ${id}`,
      async (ownSignal) => {
        await movable(partitioning, { id, partitions })
        return partitioning.move(id, partitions, {
          signal: ownSignal,
          progress: ({ phase, files }) => progress(PROGRESS[phase](files, stored.files + trashed.files)),
          // Otherwise the partitions could have fewer derivatives than the bucket, and a delete would not list it.
          mayEnd: isCompared,
        })
      },
      { signal, limitMs: LIMIT_MS },
    )
    // Another call has moved them, with another number.
    if (moved.partitions !== partitions)
      throw clientConflict(
        `The files of ${id} have moved to ${moved.partitions} partitions in the meantime. Run the command again.`,
      )
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    return { id, ...moved, seconds }
  }

  /** @throws Problem 409 while a move to another number is not complete, 503 while the index is compared and there is no move */
  async function movable(
    { of }: Partitioning,
    { id, partitions }: { id: string; partitions: PartitionCount },
  ): Promise<void> {
    const { partitions: before, movingTo } = await of(id)
    if (movingTo !== undefined && movingTo !== partitions)
      throw clientConflict(
        `The files of ${id} are moving to ${movingTo} partitions. Complete this first: sluice client partition ${id} ${movingTo}`,
      )
    // A partition that has lost its last steps knows fewer derivatives than the bucket has. Files that move there would hide it.
    if (movingTo === undefined && before !== partitions && !(await isCompared()))
      throw unavailable(
        'The index is being compared with the bucket. Retry when /readyz shows no comparison.',
      )
  }

  async function isCompared(): Promise<boolean> {
    const run = await index.run()
    return run.id === undefined || run.isCompared
  }

  return {
    ...commands,
    ...shown('client show', withOwn),
    ...shown('client list', (clients: ShownClient[]) => Promise.all(clients.map(withOwn))),
    'client partition': command(
      z.strictObject({ id: z.string(), partitions: z.literal([1, 64]) }),
      ({ id, partitions }, run) => partition(id, partitions, run),
    ),
  }
}

import { z } from 'zod'
import type { ShownClient } from '../../core/clients/shown-client.ts'
import type { CommandRun, Commands } from '../../core/command.ts'
import type { ClientStore } from '../../core/ports/client-store.ts'
import type { FileLists, IndexMaintenance } from '../../core/ports/file-index.ts'
import type { ClientPartitions, PartitionCount, Partitioning } from '../../core/ports/index/partitioning.ts'
import type { Locks } from '../../core/ports/locks.ts'
import { unavailable } from '../../core/problem.ts'
import { clientConflict, noSuchClient } from '../clients/change-existing.ts'
import { command, throttledProgress } from './commands.ts'

/** The result of `client partition`. */
export interface PartitionReport {
  id: string
  partitions: PartitionCount
  /** False when the client had this number already. */
  isChanged: boolean
  /** The number of files that the command has moved, in this time. */
  files: number
  seconds: number
}

/** A client as `client show` and `client list` return it, with its partitions when the index has any. */
export type PartitionedClient = ShownClient & Partial<ClientPartitions>

export interface PartitionOptions {
  store: ClientStore
  index: FileLists & IndexMaintenance
  locks: Locks
  /** Absent when the index has no partitions. */
  partitioning?: Partitioning
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
    ...(await partitioning?.of(client.id).catch(() => undefined)),
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
    const { partitions: before, movingTo } = await partitioning.of(id)
    if (movingTo !== undefined && movingTo !== partitions)
      throw clientConflict(
        `The files of ${id} are moving to ${movingTo} partitions. Complete this first: sluice client partition ${id} ${movingTo}`,
      )
    const startedAt = performance.now()
    if (movingTo === undefined && before !== partitions) await compared()
    const { stored, trashed } = await index.totals(id)
    const progress = throttledProgress(report)
    const files = stored.files + trashed.files
    await progress({ moved: 0, files })
    const moved = await locks.share(
      `partitions of ${id}`,
      (ownSignal) =>
        partitioning.move(id, partitions, {
          signal: ownSignal,
          progress: (count) => progress({ moved: count, files }),
        }),
      { signal, limitMs: LIMIT_MS },
    )
    const seconds = Math.round((performance.now() - startedAt) / 1000)
    return { id, ...moved, seconds }
  }

  /** A partition that has lost its last steps knows fewer derivatives than the bucket has. Files that move there would hide it. */
  async function compared(): Promise<void> {
    const { id, isCompared } = await index.run()
    if (id !== undefined && !isCompared)
      throw unavailable(
        'The index is being compared with the bucket. Retry when /readyz shows no comparison.',
      )
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

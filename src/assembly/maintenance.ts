import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../../config/load.ts'
import { hasUncopiedState } from '../adapters/disk/data-dir.ts'
import { deferred } from '../core/async/deferred.ts'
import { every } from '../core/async/every.ts'
import { FIRST_CLIENT_ID } from '../core/clients/client.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import { endMigration } from '../service/backup/migration/target.ts'
import type { Services } from './services.ts'

const SWEEP_EVERY_MS = 60_000
// After a restore or failover, Redis may list deleted files as public again. The check takes a few short commands per partition.
const COMPLETE_EVERY_MS = 5_000
// The files of a small installation are compared in less. Until a new index is compared, lists respond with 503 after a few seconds.
const FIRST_COMPARISON_MS = 2_000
const REMOVE_FORMER_EVERY_MS = 5_000
const SWEEP_PUTS_EVERY_MS = 3_600_000
const NOT_COPIED =
  'DATA_DIR has the state of a service without Redis, such as used links and waiting jobs. If it is not in Redis, stop the service and run `sluice migrate-state <DATA_DIR>`, which also ends this warning'
const STOPPING = new DOMException('the service is stopping', 'AbortError')

interface Observers {
  log: Log
  metrics: Pick<Metrics, 'watchComparison' | 'watchIndex'>
}

/**
 * Starts the periodic maintenance of a service: sweeps of abandoned
 * work, and the removal of an older index and the comparison of index and buckets where needed.
 *
 * @returns after the first comparison, and after two seconds at the latest: then the comparison continues in the background
 */
export async function startMaintenance(
  services: Services,
  observers: Observers,
): Promise<{ stop(): Promise<void> }> {
  const { sweep, sweepPuts, sweepResumables, removeFormer } = services
  const { log } = observers
  const closing = new AbortController()
  const tried = (work: () => Promise<number>) => () =>
    work().catch((error) => log.error({ err: error }, 'a sweep failed; the next sweep retries'))
  const removed = () =>
    removeFormer(closing.signal).catch((error) => {
      if (!closing.signal.aborted)
        log.warn({ err: error }, 'the index of an older version could not be removed; it is retried')
    })
  const comparing = startComparing(services, observers)
  const running = [
    comparing,
    every(REMOVE_FORMER_EVERY_MS, removed),
    every(
      SWEEP_EVERY_MS,
      tried(() => sweep(closing.signal)),
    ),
    every(SWEEP_PUTS_EVERY_MS, tried(sweepPuts)),
    every(SWEEP_EVERY_MS, tried(sweepResumables)),
  ]
  await Promise.race([comparing.first, pause(FIRST_COMPARISON_MS, undefined, { ref: false })])
  return {
    async stop() {
      closing.abort(STOPPING)
      await Promise.all(running.map((one) => one.stop()))
    },
  }
}

/** Makes the index and the bucket those of this version and service, before the first write. @throws Error when a newer version uses the index */
export async function claimStorage(
  { claimIndex, buckets }: Services['backends'],
  { config: { REDIS_URL, DATA_DIR }, log }: { config: Pick<Config, 'DATA_DIR' | 'REDIS_URL'>; log: Log },
): Promise<void> {
  if (REDIS_URL !== undefined && hasUncopiedState(DATA_DIR)) log.warn({ dataDir: DATA_DIR }, NOT_COPIED)
  await claimIndex()
  // Not earlier: a start that fails before its first write does not end a migration.
  await endMigration(buckets.of({ id: FIRST_CLIENT_ID, token: '' }))
}

/**
 * Compares index and buckets where needed, together with all other processes.
 * @returns with `first`, which resolves after the first attempt
 */
export function startComparing(
  { backends, completion, index }: Pick<Services, 'backends' | 'completion' | 'index'>,
  { log, metrics }: Observers,
): { first: Promise<void>; stop(): Promise<void> } {
  metrics.watchComparison(completion)
  metrics.watchIndex({
    async ready() {
      const parts = [index.isComplete(), index.isCounted(), index.canSearch()] as const
      const [lists, counters, search] = await Promise.all(parts)
      return { lists, counters, search }
    },
    moves: async () => backends.partitioning?.moves() ?? 0,
  })
  const closing = new AbortController()
  const first = deferred<void>()
  const running = every(COMPLETE_EVERY_MS, () =>
    completion
      .complete(closing.signal)
      .catch((error) => {
        if (!closing.signal.aborted)
          log.warn(
            { err: error, files: completion.state()?.files },
            'the index was not compared with all files; the next attempt continues from there',
          )
      })
      .finally(first.resolve),
  )
  return {
    first: first.promise,
    async stop() {
      closing.abort(STOPPING)
      await running.stop()
    },
  }
}

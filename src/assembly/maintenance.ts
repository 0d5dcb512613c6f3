import { every } from '../core/async/every.ts'
import type { Log } from '../core/log.ts'
import type { Metrics } from '../core/ports/metrics.ts'
import type { Services } from './services.ts'

const SWEEP_EVERY_MS = 60_000
// After a restore or failover, Redis may list deleted files as public again. The check takes two short commands.
const COMPLETE_EVERY_MS = 5_000
const UPGRADE_EVERY_MS = 5_000
const SWEEP_PUTS_EVERY_MS = 3_600_000

/**
 * Starts the periodic maintenance of a service: sweeps of abandoned
 * work, and the conversion of an older index and the comparison of index and buckets where needed.
 */
export function startMaintenance(
  { completion, sweep, sweepPuts, sweepResumables, upgradeIndex }: Services,
  { log, metrics }: { log: Log; metrics: Pick<Metrics, 'watchComparison'> },
): { stop(): Promise<void> } {
  metrics.watchComparison(completion.state)
  const closing = new AbortController()
  const tried = (work: () => Promise<number>) => () =>
    work().catch((error) => log.error({ err: error }, 'a sweep failed; the next sweep retries'))
  const completed = () =>
    completion.complete(closing.signal).catch((error) => {
      if (!closing.signal.aborted)
        log.warn(
          { err: error, files: completion.state()?.files },
          'the index was not compared with all files; the next attempt continues from there',
        )
    })
  const upgraded = () =>
    upgradeIndex(closing.signal).catch((error) => {
      if (!closing.signal.aborted)
        log.warn({ err: error }, 'the index of an older version could not be converted; it is retried')
    })
  const running = [
    every(UPGRADE_EVERY_MS, upgraded),
    every(COMPLETE_EVERY_MS, completed),
    every(
      SWEEP_EVERY_MS,
      tried(() => sweep(closing.signal)),
    ),
    every(SWEEP_PUTS_EVERY_MS, tried(sweepPuts)),
    every(SWEEP_EVERY_MS, tried(sweepResumables)),
  ]
  return {
    async stop() {
      closing.abort(new DOMException('the service is stopping', 'AbortError'))
      await Promise.all(running.map((one) => one.stop()))
    },
  }
}

import type { Storage } from '../../../src/app.ts'
import { endLocks, type StartService } from '../backends.ts'
import type { Service } from '../service.ts'

/** A `wrapStorage` under which it is later for the index than it is. */
export function withClock(clock: { aheadMs: number }) {
  return ({ buckets, index }: Storage): Storage => ({
    buckets,
    index: {
      ...index,
      overdue: (now) => index.overdue(now + clock.aheadMs),
      overdueChanges: (now) => index.overdueChanges(now + clock.aheadMs),
      beginRemoval(ref, { cause, leaseUntil, now }) {
        // The rollback of an upload uses the real time: its lease is over when the clock is ahead again.
        const aheadMs = cause === 'abandon' ? 0 : clock.aheadMs
        return index.beginRemoval(ref, { cause, leaseUntil: leaseUntil + aheadMs, now: now + aheadMs })
      },
      finishRemoval: (ref, now) => index.finishRemoval(ref, now + clock.aheadMs),
    },
  })
}

/**
 * Starts a service for whose services it is later than it is, by `aheadMs`. Timers, and what reads the time of the machine itself, such as
 * an S3 server, have the real time.
 *
 * @param start begins at once, with `aheadMs` 0: services take their clock when they are created
 */
export async function startedWithClock<T>(clock: { aheadMs: number }, start: () => Promise<T>): Promise<T> {
  const real = Date.now
  Date.now = () => real() + clock.aheadMs
  try {
    return await start()
  } finally {
    Date.now = real
  }
}

/** Another service on a data folder, after a sweep ten minutes later, when all leases have expired. */
export async function sweptLater(start: StartService, dataDir: string): Promise<Service> {
  const clock = { aheadMs: 600_000 }
  const service = await start({ dataDir, wrapStorage: withClock(clock) })
  await endLocks(dataDir)
  await service.app.sweep()
  clock.aheadMs = 0
  return service
}

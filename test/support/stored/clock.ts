import type { Storage } from '../../../src/app.ts'

/** A `wrapStorage` under which it is later for the index than it is. */
export function withClock(clock: { aheadMs: number }) {
  return ({ buckets, index }: Storage): Storage => ({
    buckets,
    index: {
      ...index,
      overdue: (now) => index.overdue(now + clock.aheadMs),
      overdueChanges: (now) => index.overdueChanges(now + clock.aheadMs),
      beginRemoval(ref, { cause, leaseUntil, now }) {
        // An upload that is being abandoned continues in its own time: its lease ends when the clock is ahead again.
        const aheadMs = cause === 'abandon' ? 0 : clock.aheadMs
        return index.beginRemoval(ref, { cause, leaseUntil: leaseUntil + aheadMs, now: now + aheadMs })
      },
      finishRemoval: (ref, now) => index.finishRemoval(ref, now + clock.aheadMs),
    },
  })
}

import type { Storage } from '../../src/app.ts'

/** A `wrapStorage` under which it is later for the index than it is. */
export function withClock(clock: { aheadMs: number }) {
  return ({ buckets, index }: Storage): Storage => ({
    buckets,
    index: {
      ...index,
      overdue: (now) => index.overdue(now + clock.aheadMs),
      beginRemoval: (ref, { cause, leaseUntil, now }) =>
        index.beginRemoval(ref, {
          cause,
          leaseUntil: leaseUntil + clock.aheadMs,
          now: now + clock.aheadMs,
        }),
      finishRemoval: (ref, now) => index.finishRemoval(ref, now + clock.aheadMs),
    },
  })
}

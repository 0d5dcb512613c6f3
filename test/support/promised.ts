import { expect } from 'chai'
import { sized } from './sized.ts'

/** Every response is promised within this time, in milliseconds: see docs/explanation/failures.md. */
export const PROMISED_MS = 5000

const TICK_MS = 10

/**
 * The outcome, which has to come within {@link PROMISED_MS}: `npm run test:long` checks that, since it compares with a measured
 * time. The time in which this process had no processor does not count: other tests run next to it.
 */
export async function inTime<T>(what: string, outcome: Promise<T>): Promise<T> {
  const from = performance.now()
  let ticked = from
  let stalledMs = 0
  const ticks = setInterval(() => {
    const now = performance.now()
    stalledMs += Math.max(0, now - ticked - 2 * TICK_MS)
    ticked = now
  }, TICK_MS)
  try {
    const value = await outcome
    if (sized(false, true))
      expect(performance.now() - from - stalledMs, `${what}: ms`).to.be.below(PROMISED_MS)
    return value
  } finally {
    clearInterval(ticks)
  }
}

import { expect } from 'chai'

/** Checks that this time is `ms` after a moment between `since` and now, to the second. Dates are ISO 8601. */
export function expectLasting(until: unknown, { since, ms }: { since: number; ms: number }): void {
  expect(Date.parse(String(until))).to.be.within(since + ms - 1000, Date.now() + ms + 1000)
}

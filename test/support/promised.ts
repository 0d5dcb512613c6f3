import { expect } from 'chai'

// Whatever is out of order: see docs/explanation/failures.md.
const PROMISED_MS = 5000

/** The outcome, which has to come within the time that every answer is promised in. */
export async function inTime<T>(what: string, outcome: Promise<T>): Promise<T> {
  const from = performance.now()
  const value = await outcome
  expect(performance.now() - from, `${what}: ms`).to.be.below(PROMISED_MS)
  return value
}

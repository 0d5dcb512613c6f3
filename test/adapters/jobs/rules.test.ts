import { expect } from 'chai'
import { failureOf, retryDelayMs } from '../../../src/adapters/jobs/rules.ts'
import { isRetryable } from '../../../src/core/ports/jobs.ts'
import { Problem, unavailable } from '../../../src/core/problem.ts'
import { notTransformable } from '../../../src/core/transform-problems.ts'

describe('the rules of jobs', () => {
  for (const [attempts, random, expected] of [
    [1, 0, 1000],
    [2, 0, 2000],
    [3, 0, 4000],
    [6, 0, 32_000],
    [7, 0, 60_000],
    [1, 0.5, 750],
    [1, 0.9999, 500],
    [7, 0.9999, 30_003],
    // A power of two that no number can hold.
    [5000, 0, 60_000],
  ] as const) {
    it(`wait ${expected} ms after attempt ${attempts} with the random number ${random}`, () => {
      expect(retryDelayMs(attempts, { retryMs: 1000, retryMaxMs: 60_000 }, random)).to.equal(expected)
    })
  }

  it('wait between half the time and the whole time', () => {
    const waits = Array.from({ length: 500 }, () => retryDelayMs(1, { retryMs: 1000, retryMaxMs: 60_000 }))
    expect(Math.min(...waits)).to.be.within(500, 600)
    expect(Math.max(...waits)).to.be.within(900, 1000)
  })

  for (const [error, expected] of [
    [notTransformable('broken'), false],
    [new Problem({ status: 499, code: 'x', detail: 'x' }), false],
    [new Problem({ status: 500, code: 'x', detail: 'x' }), true],
    [unavailable('not now'), true],
    [new Error('broken'), true],
    ['broken', true],
    [{ status: 400 }, true],
    [undefined, true],
  ] as const) {
    it(`${expected ? 'try again' : 'give up'} after ${error instanceof Problem ? error.status : JSON.stringify(error)}`, () => {
      expect(isRetryable(error)).to.equal(expected)
    })
  }

  it('reveal nothing of an error that is not public', () => {
    for (const error of [new Error('secret'), 'secret', undefined, { detail: 'secret' }])
      expect(JSON.stringify(failureOf(error))).not.to.include('secret')
  })
})

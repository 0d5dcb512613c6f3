import { expect } from 'chai'
import { throttled } from '../../../src/core/async/throttle-log.ts'

describe('a report that comes rarely', () => {
  const { now } = Date
  afterEach(() => {
    Date.now = now
  })

  it('is made of the same message once a minute, and of another at once', () => {
    let at = 1000
    Date.now = () => at
    const reported: string[] = []
    const report = throttled(({ message }) => reported.push(`${at} ${message}`))
    const steps: Array<[number, string]> = [
      [1000, 'away'],
      [1000, 'away'],
      [60_999, 'away'],
      [61_000, 'away'],
      [61_000, 'broken'],
      [61_000, 'broken'],
    ]
    for (const [instant, message] of steps) {
      at = instant
      report(new Error(message))
    }
    expect(reported).to.deep.equal(['1000 away', '61000 away', '61000 broken'])
  })
})

import { expect } from 'chai'
import { throttled } from '../../../src/core/async/throttle-log.ts'

describe('a throttled report', () => {
  const { now } = Date
  afterEach(() => {
    Date.now = now
  })

  it('reports the same message once a minute, and another message at once', () => {
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

import { expect } from 'chai'
import { dayOf, daysBefore, daysBetween } from '../../../src/core/text/day.ts'

describe('days', () => {
  it('are those of UTC, up to their last millisecond, in any order of the questions', () => {
    const midnight = Date.UTC(2026, 1, 28) + 86_400_000
    const instants = [
      midnight - 1,
      midnight,
      midnight - 1,
      midnight + 86_399_999,
      midnight + 86_400_000,
      0,
      -1,
    ]
    const days = [
      '2026-02-28',
      '2026-03-01',
      '2026-02-28',
      '2026-03-01',
      '2026-03-02',
      '1970-01-01',
      '1969-12-31',
    ]
    expect(instants.map(dayOf)).to.deep.equal(days)
  })

  it('are counted across months', () => {
    expect(daysBetween('2026-02-27', '2026-03-01')).to.deep.equal(['2026-02-27', '2026-02-28', '2026-03-01'])
    expect(daysBefore('2026-03-01', 1)).to.equal('2026-02-28')
  })
})

import { expect } from 'chai'
import { cpuMsOf } from '../../../src/core/budgets/process-stat.ts'

describe('the CPU time of a process', () => {
  it('is user plus system time, with that of ended children, whatever characters its name has', () => {
    const rest = 'S 1 2 3 0 -1 4194304 100 0 0 0 150 25 3 2 20 0 11 0 1234 5678'
    for (const name of ['node', 'a b', ') S 1 (', '((1 2) 3)'])
      expect(cpuMsOf(`77 (${name}) ${rest}`)).to.equal(1800)
  })
})

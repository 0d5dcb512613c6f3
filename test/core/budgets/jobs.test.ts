import { expect } from 'chai'
import { jobShares } from '../../../src/core/budgets/jobs.ts'

describe('places for media jobs', () => {
  it('are all for trusted callers, three quarters or half for untrusted ones, and a quarter for one address', () => {
    expect(jobShares(20)).to.deep.equal({
      all: 20,
      anonymousByClientChoice: 15,
      anonymous: 10,
      perAddress: 5,
    })
  })

  it('are at least one for each kind of caller', () => {
    expect(jobShares(1)).to.deep.equal({ all: 1, anonymousByClientChoice: 1, anonymous: 1, perAddress: 1 })
  })
})

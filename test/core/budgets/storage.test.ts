import { expect } from 'chai'
import { bytesOfDerivatives, derivativeShares, mayEvict } from '../../../src/core/budgets/storage.ts'

const LIMITS = { variantLimit: 1000, derivativesMaxBytes: 0, derivativesMaxTimes: 50 }

describe('the storage of derivatives', () => {
  it('uses the configured limits unless the client has its own', () => {
    expect(derivativeShares(LIMITS, undefined)).to.deep.equal({ variants: 1000, bytes: undefined })
    const limits = { ...LIMITS, derivativesMaxBytes: 5000 }
    expect(derivativeShares(limits, {})).to.deep.equal({ variants: 1000, bytes: 5000 })
    expect(derivativeShares(limits, { variantLimit: 3, derivativesMaxBytes: 7 })).to.deep.equal({
      variants: 3,
      bytes: 7,
    })
    expect(derivativeShares(limits, { derivativesMaxBytes: 0 }).bytes).to.equal(undefined)
  })

  it('grows with the original, from 256 MB on', () => {
    expect(bytesOfDerivatives(1000, 50)).to.equal(256_000_000)
    expect(bytesOfDerivatives(10_000_000, 50)).to.equal(500_000_000)
  })

  it('does not evict held derivatives for untrusted callers', () => {
    const [held, other] = [{ isHeld: true }, { isHeld: false }]
    expect([mayEvict(held, held), mayEvict(held, other), mayEvict(other, other)]).to.deep.equal([
      true,
      true,
      true,
    ])
    expect(mayEvict(other, held)).to.equal(false)
  })
})

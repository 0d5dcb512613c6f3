import { expect } from 'chai'
import { memoryRateLimiter } from '../../../src/adapters/rate-limiter/memory.ts'
import { rateLimiterContract } from '../../contracts/rate-limiter.ts'

rateLimiterContract('memory', async (limit) => {
  const limiter = memoryRateLimiter(limit)
  return { limiter, elsewhere: limiter, close: async () => {} }
})

describe('memory: two rate limiters', () => {
  it('have separate counts', async () => {
    const [first, second] = [1, 2].map(() => memoryRateLimiter({ points: 1, seconds: 60 }))
    expect(await first?.consume('k')).to.include({ allowed: true })
    expect(await second?.consume('k')).to.include({ allowed: true })
    expect(await first?.consume('k')).to.include({ allowed: false })
  })
})

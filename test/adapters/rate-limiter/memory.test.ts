import { expect } from 'chai'
import { BoundedMemory, memoryRateLimiter } from '../../../src/adapters/rate-limiter/memory.ts'
import { rateLimiterContract } from '../../contracts/rate-limiter.ts'

rateLimiterContract('memory', async (limit) => {
  const limiter = memoryRateLimiter(limit)
  return { limiter, elsewhere: limiter, close: async () => {} }
})

describe('memory: many counts', () => {
  it('are limited: those that were not changed for the longest time are forgotten', async () => {
    const limiter = new BoundedMemory({ points: 5, duration: 3600 }, { most: 3 })
    for (const key of ['a', 'b', 'c']) await limiter.consume(key)
    await limiter.penalty('a', 2)
    await limiter.consume('d')
    expect(await limiter.get('b')).to.equal(null)
    for (const [key, points] of [
      ['a', 3],
      ['c', 1],
      ['d', 1],
    ] as const)
      expect(await limiter.get(key), key).to.include({ consumedPoints: points })
  })
})

describe('memory: two rate limiters', () => {
  it('have separate counts', async () => {
    const [first, second] = [1, 2].map(() => memoryRateLimiter({ points: 1, seconds: 60 }))
    expect(await first?.consume('k')).to.include({ allowed: true })
    expect(await second?.consume('k')).to.include({ allowed: true })
    expect(await first?.consume('k')).to.include({ allowed: false })
  })
})

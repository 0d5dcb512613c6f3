import { expect } from 'chai'
import { boundedCache } from '../../../src/core/budgets/bounded-cache.ts'

describe('a bounded cache', () => {
  it('holds fewer entries the longer their names are, and removes the least recently used ones first', () => {
    const held = (length: number) => {
      const cache = boundedCache<true>({ maxBytes: 100_000 })
      for (let i = 0; i < 1000; i += 1) {
        cache.set(`${i}`.padEnd(length, 'x'), true)
        cache.get('0'.padEnd(length, 'x'))
      }
      expect(cache.has('0'.padEnd(length, 'x'))).to.equal(true)
      expect(cache.has('1'.padEnd(length, 'x'))).to.equal(false)
      return cache.size
    }
    expect(held(100)).to.equal(250)
    expect(held(1150)).to.equal(40)
  })

  it('counts the values', () => {
    const cache = boundedCache<string>({ maxBytes: 1000, bytesOf: ({ length }) => length })
    for (const name of ['a', 'b', 'c']) cache.set(name, 'x'.repeat(300))
    expect([...cache.keys()]).to.have.members(['b', 'c'].slice(1))
  })
})

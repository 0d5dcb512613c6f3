import { expect } from 'chai'
import { createOftenDelivered } from '../../../src/service/recompression/often-delivered.ts'
import { usedHeap } from '../../support/heavy.ts'
import { sized } from '../../support/sized.ts'

const wish = { query: [['w', '1']] as const, preferences: {} }
const source = (derivative: string) => ({ clientId: 'first', derivative }) as never

describe('derivatives that are delivered often', () => {
  let found: string[]
  const counting = (after: number) =>
    createOftenDelivered({ after, found: ({ derivative }) => void found.push(String(derivative)) })
  beforeEach(() => {
    found = []
  })

  it('are found after as many deliveries as asked, each for itself, and again after as many', () => {
    const often = counting(3)
    for (const name of ['a', 'b', 'a']) often.count(source(name), wish)
    expect(found).to.deep.equal([])
    often.count(source('a'), wish)
    expect(found).to.deep.equal(['a'])
    for (const _ of [1, 2, 3]) often.count(source('a'), wish)
    expect(found).to.deep.equal(['a', 'a'])
  })

  it('are found at once with 1', () => {
    counting(1).count(source('a'), wish)
    expect(found).to.deep.equal(['a'])
  })

  it('are counted by repeated responses, which state no wish, after a first one', () => {
    const often = counting(2)
    for (const _ of [1, 2, 3]) often.count(source('a'))
    expect(found).to.deep.equal([])
    often.count(source('a'), wish)
    often.count(source('a'))
    expect(found).to.deep.equal(['a'])
  })

  it('hold nothing of a URL but the parameters that were counted', () => {
    const often = counting(2)
    const before = usedHeap()
    for (let i = 0; i < sized(600, 2000); i += 1) {
      const url = `/a.png?w=12345678901234567890&utm_source=${i}_${'x'.repeat(15_000)}`
      const [, search = ''] = url.split('?')
      const [first = ''] = search.split('&')
      often.count(source(`${i}`), { ...wish, query: [['w', first.slice(2)]] })
    }
    expect(usedHeap() - before).to.be.below(3_000_000)
    often.count(source('0'))
  })

  it('are forgotten when too many others are delivered: the counts have a bound in bytes', () => {
    const often = counting(2)
    often.count(source('a'), wish)
    for (let i = 0; i < 20_000; i += 1) often.count(source(`other ${i}`), wish)
    often.count(source('a'), wish)
    expect(found).to.deep.equal([])
  })
})

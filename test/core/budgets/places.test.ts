import { expect } from 'chai'
import { createPlaces, type PlaceLimit } from '../../../src/core/budgets/places.ts'

const all: PlaceLimit = { name: 'all', atMost: 3 }
const of = (address: string): PlaceLimit => ({ name: address, atMost: 2 })

describe('places', () => {
  /** Takes one. @returns what gives it back @throws when a limit has none */
  function taker() {
    const places = createPlaces()
    return (...limits: PlaceLimit[]) => {
      const taken = places.take(limits)
      if ('full' in taken) throw new Error(`${taken.full.name} is full`)
      return taken.giveBack
    }
  }

  it('are refused by the first full limit, and none of the other limits counts the attempt', () => {
    const take = taker()
    const giveBack = take(of('one'), all)
    take(of('one'), all)
    expect(() => take(all, of('one'))).to.throw('one is full')
    take(of('two'), all)
    expect(() => take(of('two'), all)).to.throw('all is full')
    expect(() => take(of('one'), all)).to.throw('one is full')
    giveBack()
    take(of('two'), all)
    expect(() => take(of('two'))).to.throw('two is full')
  })

  it('are free again after giveBack()', () => {
    const take = taker()
    for (let i = 0; i < 5; i += 1) {
      const both = [take(of('one'), all), take(of('one'), all)]
      expect(() => take(of('one'), all)).to.throw('one is full')
      for (const giveBack of both) giveBack()
    }
  })
})

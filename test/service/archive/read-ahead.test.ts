import { expect } from 'chai'
import { createReadAhead } from '../../../src/service/archive/read-ahead.ts'

describe('reading ahead', () => {
  it('is limited for all archives together', () => {
    const newReadAhead = createReadAhead({ maxBytes: 10 })
    const [one, other] = [newReadAhead(), newReadAhead()]
    expect(one.take(6)).to.equal(true)
    expect(other.take(5)).to.equal(false)
    expect(other.take(4)).to.equal(true)
    expect(one.take(0)).to.equal(true)
    expect(one.take(1)).to.equal(false)
    one.giveBack(6)
    expect(other.take(6)).to.equal(true)
  })

  it('releases the remaining bytes of an archive that ends, once', () => {
    const newReadAhead = createReadAhead({ maxBytes: 10 })
    const one = newReadAhead()
    one.take(4)
    one.take(6)
    one.giveBack(4)
    one.end()
    one.end()
    one.giveBack(6)
    expect(one.take(1)).to.equal(false)
    const other = newReadAhead()
    expect(other.take(11)).to.equal(false)
    expect(other.take(10)).to.equal(true)
  })
})

import { expect } from 'chai'
import { createFetchPlaces, type FetchPlaceRequest } from '../../../src/service/remote/fetch-places.ts'

describe('slots for fetches', () => {
  const of = (more: Partial<FetchPlaceRequest> & { id?: string } = {}) => {
    const { id = 'a', ...rest } = more
    return { client: { id }, asker: 'anyone', ...rest } as FetchPlaceRequest
  }
  const take = createFetchPlaces()
  let held: Array<() => void> = []
  afterEach(() => {
    for (const give of held) give()
    held = []
  })
  const fill = (count: number, request: (i: number) => FetchPlaceRequest) => {
    for (let i = 0; i < count; i += 1) held.push(take(request(i)))
  }
  const busy = { status: 503, code: 'unavailable' }

  it('are four per IP address, for all clients together', () => {
    fill(4, (i) => of({ id: `c${i}`, address: '192.0.2.1' }))
    expect(() => take(of({ id: 'z', address: '192.0.2.1' })))
      .to.throw()
      .that.includes(busy)
    fill(1, () => of({ id: 'c0', address: '192.0.2.2' }))
  })

  it('are sixteen per client', () => {
    fill(16, (i) => of({ address: `192.0.2.${i}` }))
    expect(() => take(of({ address: '192.0.2.99' })))
      .to.throw()
      .that.includes(busy)
    fill(1, () => of({ id: 'b', address: '192.0.2.99' }))
  })

  it('are separate for requests with a secret, per client and per process', () => {
    fill(64, (i) => of({ id: `c${i % 4}`, address: `192.0.2.${i}` }))
    expect(() => take(of({ id: 'new', address: '192.0.2.99' })))
      .to.throw()
      .that.includes(busy)
    fill(16, () => of({ id: 'c0', asker: 'secret' }))
    expect(() => take(of({ id: 'c0', asker: 'secret' })))
      .to.throw()
      .that.includes(busy)
  })

  it('are released', () => {
    for (let i = 0; i < 10; i += 1) {
      fill(4, () => of({ address: '192.0.2.1' }))
      expect(() => take(of({ address: '192.0.2.1' }))).to.throw()
      for (const give of held.splice(0)) give()
    }
  })
})

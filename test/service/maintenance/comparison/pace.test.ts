import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { deferred } from '../../../../src/core/async/deferred.ts'
import { createPace } from '../../../../src/service/maintenance/comparison/pace.ts'
import { rejection } from '../../../support/rejection.ts'

const { signal } = new AbortController()

describe('the pace of a comparison', () => {
  let busy: number
  let waited: number[]
  let waiting = deferred<void>()
  let now: number
  /** Undefined while requests are not watched. */
  let request: (() => void) | undefined
  beforeEach(() => {
    busy = 1000
    now = 0
    request = undefined
    waited = []
    waiting = deferred<void>()
    waiting.resolve()
  })
  const pace = () =>
    createPace({
      busy: () => busy,
      wait: (ms) => {
        waited.push(ms)
        return waiting.promise
      },
      now: () => now,
      watchRequests(noted) {
        request = noted
        return () => {
          request = undefined
        }
      },
    })

  it('rests for as long as the process has worked, and at most a second', async () => {
    const { rest } = pace()
    await rest(signal)
    for (const work of [20, 0, 3, 3, 7000]) {
      busy += work
      await rest(signal)
    }
    expect(waited).to.deep.equal([20, 6, 1000])
  })

  it('does not count what the process has done before', async () => {
    const { begin, rest } = pace()
    busy += 500
    begin()
    await rest(signal)
    expect(waited).to.deep.equal([])
  })

  it('does not count the work of requests during a rest', async () => {
    const { rest } = pace()
    await rest(signal)
    busy += 20
    waiting = deferred<void>()
    const rested = [rest(signal), rest(signal)]
    busy += 500
    waiting.resolve()
    await Promise.all(rested)
    await rest(signal)
    expect(waited).to.deep.equal([20])
  })

  it('rests nine times as long for a second after a request, unless requests wait for the work', async () => {
    const { begin, rest } = pace()
    begin()
    request?.()
    for (const [at, options] of [[1000], [1000, { isUrgent: true }], [1001]] as const) {
      now = at
      busy += 20
      await rest(signal, options)
    }
    expect(waited).to.deep.equal([180, 20, 20])
  })

  it('watches requests from the begin to the end of the work', () => {
    const { begin, end } = pace()
    expect(request).to.equal(undefined)
    begin()
    const watched = request
    begin()
    expect(request).to.be.a('function').and.equal(watched)
    end()
    expect(request).to.equal(undefined)
  })

  it('notices the requests of the servers of this process', async () => {
    const { begin, rest, end } = createPace({
      busy: () => busy,
      now: () => now,
      wait: async (ms) => waited.push(ms),
    })
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    try {
      begin()
      await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      busy += 20
      await rest(signal)
      expect(waited).to.deep.equal([180])
    } finally {
      end()
      server.closeAllConnections()
      server.close()
    }
  })

  it('ends with its signal', async () => {
    const reason = new Error('stopped')
    expect(await rejection(pace().rest(AbortSignal.abort(reason)))).to.equal(reason)
    // During a rest, too.
    const { rest } = createPace({ busy: () => busy })
    await rest(signal)
    busy += 1000
    const stopping = new AbortController()
    const resting = rest(stopping.signal)
    stopping.abort(reason)
    expect(await rejection(resting)).to.equal(reason)
  })
})

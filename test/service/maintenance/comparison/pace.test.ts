import { expect } from 'chai'
import { deferred } from '../../../../src/core/async/deferred.ts'
import { createPace } from '../../../../src/service/maintenance/comparison/pace.ts'
import { rejection } from '../../../support/rejection.ts'

const { signal } = new AbortController()

describe('the pace of a comparison', () => {
  let busy: number
  let waited: number[]
  let waiting = deferred<void>()
  beforeEach(() => {
    busy = 1000
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

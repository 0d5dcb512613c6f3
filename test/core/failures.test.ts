import { expect } from 'chai'
import { createFailures } from '../../src/core/budgets/failures.ts'
import { unavailable, unusableAsset } from '../../src/core/problem.ts'
import { notDecodable, takesTooLong } from '../../src/core/transform-problems.ts'

describe('failed transformations', () => {
  it('are remembered for an hour, and the same work fails at once until then', () => {
    let clock = 0
    const failures = createFailures(() => clock)
    const problem = notDecodable('expected an image')
    failures.remember('one', problem)
    expect(() => failures.check('two')).to.not.throw()
    clock = 3_599_999
    expect(() => failures.check('one')).to.throw(problem)
    clock = 3_600_000
    expect(() => failures.check('one')).to.not.throw()
  })

  it('are remembered for a minute after a timeout, and twice as long each further time, up to an hour', () => {
    let clock = 0
    const failures = createFailures(() => clock)
    for (const minutes of [1, 2, 4, 8, 16, 32, 60, 60]) {
      failures.remember('slow', takesTooLong('image'))
      clock += minutes * 60_000 - 1
      expect(() => failures.check('slow'), `${minutes} minutes`).to.throw('takes too long')
      clock += 1
      expect(() => failures.check('slow'), `${minutes} minutes`).to.not.throw()
    }
    clock += 3_600_000
    failures.remember('slow', takesTooLong('image'))
    clock += 60_000
    expect(() => failures.check('slow'), 'an hour without a failure').to.not.throw()
  })

  it('are remembered once for all callers that waited for the same slow work', () => {
    let clock = 0
    const failures = createFailures(() => clock)
    for (let caller = 0; caller < 7; caller += 1) failures.remember('slow', takesTooLong('image'))
    clock = 60_000
    expect(() => failures.check('slow')).to.not.throw()
  })

  it('are not remembered when a retry may succeed', () => {
    const failures = createFailures()
    for (const error of [unavailable('busy'), new Error('bug'), unusableAsset('wm', 'broken', undefined)])
      failures.remember('one', error)
    expect(() => failures.check('one')).to.not.throw()
  })

  it('are limited to the last 10000', () => {
    const failures = createFailures()
    const problem = notDecodable('expected an image')
    for (let i = 0; i <= 10_000; i += 1) failures.remember(`${i}`, problem)
    expect(() => failures.check('0')).to.not.throw()
    expect(() => failures.check('1')).to.throw(problem)
    expect(() => failures.check('10000')).to.throw(problem)
  })
})

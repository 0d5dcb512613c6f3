import { expect } from 'chai'
import { createFailures, type Failures } from '../../src/core/budgets/failures.ts'
import { Problem, type ProblemJson, unavailable, unusableAsset } from '../../src/core/problem.ts'
import { notDecodable, takesTooLong } from '../../src/core/transform-problems.ts'
import { usedHeap } from '../support/heavy.ts'

function refusalOf(failures: Failures, name: string): ProblemJson | undefined {
  try {
    failures.check(name)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.toJSON()
    throw error
  }
}

describe('failed transformations', () => {
  it('are remembered for an hour, and the same work fails at once until then', () => {
    let clock = 0
    const failures = createFailures(() => clock)
    const problem = notDecodable('expected an image')
    failures.remember('one', problem)
    expect(() => failures.check('two')).to.not.throw()
    clock = 3_599_999
    expect(refusalOf(failures, 'one')).to.deep.equal(problem.toJSON())
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

  it('are limited to the last ones that fit in 4 MB, whatever their names are', () => {
    const failures = createFailures()
    const problem = notDecodable('expected an image')
    const before = usedHeap()
    const nameOf = (i: number) => `${i} ${'x'.repeat(4000)}`
    for (let i = 0; i <= 5000; i += 1) failures.remember(nameOf(i), problem)
    expect(() => failures.check(nameOf(0))).to.not.throw()
    expect(refusalOf(failures, nameOf(4990))).to.deep.equal(problem.toJSON())
    expect(usedHeap() - before).to.be.below(6_000_000)
  })

  it('are plain data: nothing that their errors have seen stays alive', () => {
    const failures = createFailures()
    const before = usedHeap()
    for (let i = 0; i < 100; i += 1)
      failures.remember(
        `${i}`,
        notDecodable(
          'expected an image',
          Object.assign(new Error('seen'), { bytes: Array.from({ length: 20_000 }, Math.random) }),
        ),
      )
    expect(refusalOf(failures, '99')).to.not.equal(undefined)
    expect(usedHeap() - before).to.be.below(2_000_000)
  })

  it('are removed when they have expired, and those of timeouts an hour later', () => {
    let clock = 0
    const failures = createFailures(() => clock)
    const before = usedHeap()
    for (let i = 0; i < 1500; i += 1)
      failures.remember(`${i}`, notDecodable(Buffer.alloc(1000, `${i} `).toString()))
    expect(usedHeap() - before).to.be.above(1_500_000)
    clock = 3_600_001
    failures.remember('another', notDecodable('expected an image'))
    expect(usedHeap() - before).to.be.below(1_000_000)
  })
})

import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { inProcessLocks } from '../../../src/adapters/locks/in-process.ts'
import { withExclusiveLock } from '../../../src/core/async/cross-process-mutex.ts'

const limitMs = 10_000

describe('work under an exclusive lock', () => {
  it('runs for each caller, one after the other, and each gets its own result', async () => {
    const locks = inProcessLocks()
    let atWork = 0
    let most = 0
    const work = (i: number) => async () => {
      atWork += 1
      most = Math.max(most, atWork)
      await pause(1)
      atWork -= 1
      if (i === 2) throw new Error(`the failure of ${i}`)
      return i
    }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, (_, i) => withExclusiveLock(locks, 'a', work(i), { limitMs })),
    )
    expect(
      outcomes.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.message)),
    ).to.deep.equal([0, 1, 'the failure of 2', 3, 4])
    expect(most).to.equal(1)
  })

  it('does not wait for locks of other names', async () => {
    const locks = inProcessLocks()
    const inner = () => withExclusiveLock(locks, 'b', async () => 'done', { limitMs })
    expect(await withExclusiveLock(locks, 'a', inner, { limitMs })).to.equal('done')
  })
})

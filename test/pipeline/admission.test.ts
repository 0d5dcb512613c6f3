import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { Problem } from '../../src/core/problem.ts'
import { createAdmission } from '../../src/pipeline/admission.ts'
import { rejection } from '../support/rejection.ts'

/** Work that runs until it is told to end. */
function gate() {
  const running: Array<(outcome: string | Error) => void> = []
  return {
    /** Ends of the works that have begun, in order. */
    running,
    work: () =>
      new Promise<string>((resolve, reject) => {
        running.push((outcome) => (typeof outcome === 'string' ? resolve(outcome) : reject(outcome)))
      }),
  }
}

const settle = async () => {
  for (let i = 0; i < 5; i += 1) await setImmediate()
}

describe('admission', () => {
  const { signal } = new AbortController()

  it('lets so many work at once, and the next when one has ended', async () => {
    const admit = createAdmission({ atOnce: 2, waiting: 10 })
    const { running, work } = gate()
    const outcomes = [0, 1, 2, 3].map(() => admit(work, signal))
    await settle()
    expect(running).to.have.length(2)
    running[0]?.('first')
    await settle()
    expect(running).to.have.length(3)
    running[1]?.('second')
    running[2]?.('third')
    await settle()
    expect(running).to.have.length(4)
    running[3]?.('fourth')
    expect(await Promise.all(outcomes)).to.deep.equal(['first', 'second', 'third', 'fourth'])
  })

  it('tells how many work and how many wait, without those that have left', async () => {
    const admit = createAdmission({ atOnce: 2, waiting: 10 })
    const { running, work } = gate()
    expect(admit.load()).to.deep.equal({ running: 0, waiting: 0 })
    const leaver = new AbortController()
    const left = rejection(admit(work, signal).then(() => admit(work, leaver.signal)))
    const outcomes = [0, 1, 2].map(() => admit(work, signal))
    await settle()
    expect(admit.load()).to.deep.equal({ running: 2, waiting: 2 })
    running[0]?.('first')
    await settle()
    expect(admit.load()).to.deep.equal({ running: 2, waiting: 2 })
    leaver.abort()
    expect(admit.load()).to.deep.equal({ running: 2, waiting: 1 })
    for (let i = 1; i < 4; i += 1) {
      running[i]?.('next')
      await settle()
    }
    await Promise.all([left, ...outcomes])
    expect(admit.load()).to.deep.equal({ running: 0, waiting: 0 })
  })

  it('gives the place of one that has failed to the next, and passes the failure on', async () => {
    const admit = createAdmission({ atOnce: 1, waiting: 10 })
    const { running, work } = gate()
    const first = rejection(admit(work, signal))
    const second = admit(work, signal)
    await settle()
    const error = new Error('broken')
    running[0]?.(error)
    expect(await first).to.equal(error)
    await settle()
    running[1]?.('fine')
    expect(await second).to.equal('fine')
  })

  it('refuses at once, with a 503, whoever comes when too many wait already', async () => {
    const admit = createAdmission({ atOnce: 1, waiting: 2 })
    const { running, work } = gate()
    const inside = [admit(work, signal), admit(work, signal), admit(work, signal)]
    await settle()
    expect(running).to.have.length(1)
    const refused = await rejection(admit(work, signal))
    expect(refused).to.be.instanceOf(Problem).that.includes({ status: 503, code: 'unavailable' })
    expect((refused as Problem).headers).to.have.property('Retry-After')

    // As soon as one has begun, there is room for one to wait.
    running[0]?.('a')
    await settle()
    inside.push(admit(work, signal))
    for (let i = 1; i < 4; i += 1) {
      await settle()
      running[i]?.('b')
    }
    expect(await Promise.all(inside)).to.deep.equal(['a', 'b', 'b', 'b'])
  })

  it('does not count those who work among those who wait', async () => {
    const admit = createAdmission({ atOnce: 2, waiting: 1 })
    const { running, work } = gate()
    const inside: Promise<string>[] = []
    for (let i = 0; i < 3; i += 1) {
      inside.push(admit(work, signal))
      await settle()
    }
    expect(running).to.have.length(2)
    expect(await rejection(admit(work, signal))).to.have.property('status', 503)
    for (let i = 0; i < 3; i += 1) {
      running[i]?.('done')
      await settle()
    }
    expect(await Promise.all(inside)).to.deep.equal(['done', 'done', 'done'])
  })

  it('does not begin for one who has left while waiting', async () => {
    const admit = createAdmission({ atOnce: 1, waiting: 10 })
    const { running, work } = gate()
    const caller = new AbortController()
    const first = admit(work, signal)
    const left = rejection(admit(work, caller.signal))
    const last = admit(work, signal)
    await settle()
    const reason = new Error('left')
    caller.abort(reason)
    running[0]?.('first')
    expect(await left).to.equal(reason)
    await settle()
    expect(running, 'the first and the last').to.have.length(2)
    running[1]?.('last')
    expect(await Promise.all([first, last])).to.deep.equal(['first', 'last'])
  })

  it('gives the place of one who has left while waiting to the next, at once', async () => {
    const admit = createAdmission({ atOnce: 1, waiting: 1 })
    const { running, work } = gate()
    const caller = new AbortController()
    const first = admit(work, signal)
    const left = rejection(admit(work, caller.signal))
    await settle()
    expect(await rejection(admit(work, signal))).to.have.property('status', 503)
    caller.abort(new Error('left'))
    const next = admit(work, signal)
    expect(await rejection(admit(work, signal)), 'the place is taken again').to.have.property('status', 503)
    running[0]?.('first')
    await left
    await settle()
    running[1]?.('next')
    expect(await Promise.all([first, next])).to.deep.equal(['first', 'next'])
    expect(running, 'nothing has been let in twice').to.have.length(2)
  })

  it('takes no place for one who has left before', async () => {
    const admit = createAdmission({ atOnce: 1, waiting: 1 })
    const reason = new Error('left')
    for (let i = 0; i < 5; i += 1)
      expect(await rejection(admit(gate().work, AbortSignal.abort(reason)))).to.equal(reason)
    const { running, work } = gate()
    const inside = [admit(work, signal), admit(work, signal)]
    expect(await rejection(admit(work, signal))).to.have.property('status', 503)
    await settle()
    running[0]?.('a')
    await settle()
    running[1]?.('b')
    expect(await Promise.all(inside)).to.deep.equal(['a', 'b'])
  })
})

import { setMaxListeners } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { Problem } from '../../../src/core/problem.ts'
import { createAdmission } from '../../../src/pipeline/run/admission.ts'
import { rejection } from '../../support/rejection.ts'
import { roomFor, TRUSTED } from '../../support/requests/callers.ts'

/** Work that runs until the test ends it. */
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

const WEIGHTS = { heavyFrom: 100, heavyBytes: 1000, waitMs: 10_000 }

describe('admission', () => {
  const { signal } = new AbortController()
  setMaxListeners(0, signal)
  // Of untrusted callers' slots see slots.test.ts.
  const who = { clientId: 'a', caller: TRUSTED }
  const light = { ...who, signal, bytes: 100 }

  it('runs up to the limit at the same time, and the next when one has ended', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 2, waiting: roomFor(10) })
    const { running, work } = gate()
    const outcomes = [0, 1, 2, 3].map(() => admit(work, light))
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

  it('reports how much work runs and waits, without aborted work', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 2, waiting: roomFor(10) })
    const { running, work } = gate()
    expect(admit.load()).to.deep.equal({ running: 0, waiting: 0 })
    const leaver = new AbortController()
    const left = rejection(
      admit(work, light).then(() => admit(work, { ...who, bytes: 1, signal: leaver.signal })),
    )
    const outcomes = [0, 1, 2].map(() => admit(work, light))
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

  it('starts the next after a failure, and throws the error', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 1, waiting: roomFor(10) })
    const { running, work } = gate()
    const first = rejection(admit(work, light))
    const second = admit(work, light)
    await settle()
    const error = new Error('broken')
    running[0]?.(error)
    expect(await first).to.equal(error)
    await settle()
    running[1]?.('fine')
    expect(await second).to.equal('fine')
  })

  it('refuses with a 503 at once when too much work waits', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 1, waiting: roomFor(2) })
    const { running, work } = gate()
    const inside = [admit(work, light), admit(work, light), admit(work, light)]
    await settle()
    expect(running).to.have.length(1)
    const refused = await rejection(admit(work, light))
    expect(refused).to.be.instanceOf(Problem).that.includes({ status: 503, code: 'unavailable' })
    expect((refused as Problem).headers).to.have.property('Retry-After')

    // As soon as one has begun, there is room for one to wait.
    running[0]?.('a')
    await settle()
    inside.push(admit(work, light))
    for (let i = 1; i < 4; i += 1) {
      await settle()
      running[i]?.('b')
    }
    expect(await Promise.all(inside)).to.deep.equal(['a', 'b', 'b', 'b'])
  })

  it('does not count running work as waiting', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 2, waiting: roomFor(1) })
    const { running, work } = gate()
    const inside: Promise<string>[] = []
    for (let i = 0; i < 3; i += 1) {
      inside.push(admit(work, light))
      await settle()
    }
    expect(running).to.have.length(2)
    expect(await rejection(admit(work, light))).to.have.property('status', 503)
    for (let i = 0; i < 3; i += 1) {
      running[i]?.('done')
      await settle()
    }
    expect(await Promise.all(inside)).to.deep.equal(['done', 'done', 'done'])
  })

  it('does not start work that was aborted while it waited', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 1, waiting: roomFor(10) })
    const { running, work } = gate()
    const caller = new AbortController()
    const first = admit(work, light)
    const left = rejection(admit(work, { ...who, bytes: 1, signal: caller.signal }))
    const last = admit(work, light)
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

  it('gives the place of aborted waiting work to the next, at once', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 1, waiting: roomFor(1) })
    const { running, work } = gate()
    const caller = new AbortController()
    const first = admit(work, light)
    const left = rejection(admit(work, { ...who, bytes: 1, signal: caller.signal }))
    await settle()
    expect(await rejection(admit(work, light))).to.have.property('status', 503)
    caller.abort(new Error('left'))
    const next = admit(work, light)
    expect(await rejection(admit(work, light)), 'the place is taken again').to.have.property('status', 503)
    running[0]?.('first')
    await left
    await settle()
    running[1]?.('next')
    expect(await Promise.all([first, next])).to.deep.equal(['first', 'next'])
    expect(running, 'nothing has been let in twice').to.have.length(2)
  })

  it('takes no place for work that is aborted before', async () => {
    const admit = createAdmission({ ...WEIGHTS, atOnce: 1, waiting: roomFor(1) })
    const reason = new Error('left')
    for (let i = 0; i < 5; i += 1)
      expect(
        await rejection(admit(gate().work, { ...who, bytes: 1, signal: AbortSignal.abort(reason) })),
      ).to.equal(reason)
    const { running, work } = gate()
    const inside = [admit(work, light), admit(work, light)]
    expect(await rejection(admit(work, light))).to.have.property('status', 503)
    await settle()
    running[0]?.('a')
    await settle()
    running[1]?.('b')
    expect(await Promise.all(inside)).to.deep.equal(['a', 'b'])
  })

  describe('of heavy work', () => {
    const heavy = (bytes = 101) => ({ ...who, signal, bytes })

    /** Works that say who they are when they begin. */
    function named() {
      const begun: string[] = []
      const ends = new Map<string, () => void>()
      const work = (name: string) => () =>
        new Promise<void>((resolve) => {
          begun.push(name)
          ends.set(name, resolve)
        })
      const end = async (name: string) => {
        ends.get(name)?.()
        await settle()
      }
      return { begun, work, end }
    }

    it('reserves a slot for light work, so that it never waits for heavy work alone', async () => {
      const admit = createAdmission({ ...WEIGHTS, atOnce: 3, waiting: roomFor(10) })
      const { begun, work, end } = named()
      const all = ['h1', 'h2', 'h3'].map((name) => admit(work(name), heavy()))
      await settle()
      expect(begun).to.deep.equal(['h1', 'h2'])
      all.push(admit(work('light'), light))
      await settle()
      expect(begun).to.deep.equal(['h1', 'h2', 'light'])
      await end('h1')
      expect(begun).to.deep.equal(['h1', 'h2', 'light', 'h3'])
      for (const name of begun) await end(name)
      await Promise.all(all)
      expect(admit.load()).to.deep.equal({ running: 0, waiting: 0 })
    })

    it('allows it in a single slot', async () => {
      const admit = createAdmission({ ...WEIGHTS, atOnce: 1, waiting: roomFor(10) })
      const { begun, work, end } = named()
      const all = [admit(work('h1'), heavy()), admit(work('light'), light)]
      await settle()
      await end('h1')
      await end('light')
      await Promise.all(all)
      expect(begun).to.deep.equal(['h1', 'light'])
    })

    it('limits its memory in total, but allows a larger one alone', async () => {
      const admit = createAdmission({ ...WEIGHTS, atOnce: 4, waiting: roomFor(10) })
      const { begun, work, end } = named()
      const all = Object.entries({ a: 600, b: 400, c: 101, d: 5000 }).map(([name, bytes]) =>
        admit(work(name), heavy(bytes)),
      )
      await settle()
      expect(begun, '1000 of 1000').to.deep.equal(['a', 'b'])
      await end('b')
      expect(begun).to.deep.equal(['a', 'b', 'c'])
      await end('a')
      expect(begun).to.have.length(3)
      await end('c')
      expect(begun).to.deep.equal(['a', 'b', 'c', 'd'])
      await end('d')
      await Promise.all(all)
    })

    it('starts one for every four light ones, however many of those arrive', async () => {
      const admit = createAdmission({ ...WEIGHTS, atOnce: 1, waiting: roomFor(100) })
      const { begun, work, end } = named()
      const all = [admit(work('first'), light)]
      for (const name of ['h1', 'h2']) all.push(admit(work(name), heavy()))
      for (let i = 1; i <= 12; i += 1) all.push(admit(work(`l${i}`), light))
      for (let i = 0; i < all.length; i += 1) {
        await settle()
        await end(begun.at(-1) ?? '')
      }
      await Promise.all(all)
      const places = begun.flatMap((name, at) => (name.startsWith('h') ? [at] : []))
      expect(places).to.deep.equal([4, 9])
    })

    it('counts it as waiting also while a slot is free that it may not use', async () => {
      const admit = createAdmission({ ...WEIGHTS, atOnce: 2, waiting: roomFor(1) })
      const { begun, work, end } = named()
      const all = [admit(work('h1'), heavy()), admit(work('h2'), heavy())]
      expect(await rejection(admit(work('h3'), heavy()))).to.have.property('status', 503)
      all.push(admit(work('light'), light))
      await settle()
      expect(begun).to.deep.equal(['h1', 'light'])
      for (const name of ['h1', 'light', 'h2']) await end(name)
      await Promise.all(all)
    })

    it('starts the next when the one before it is aborted', async () => {
      const admit = createAdmission({ ...WEIGHTS, atOnce: 3, waiting: roomFor(10) })
      const { begun, work, end } = named()
      const caller = new AbortController()
      const all = [admit(work('a'), heavy(600))]
      const left = rejection(admit(work('b'), { ...who, bytes: 900, signal: caller.signal }))
      all.push(admit(work('c'), heavy(200)))
      await settle()
      expect(begun).to.deep.equal(['a'])
      caller.abort(new Error('left'))
      expect(await left).to.have.property('message', 'left')
      await settle()
      expect(begun).to.deep.equal(['a', 'c'])
      for (const name of begun) await end(name)
      await Promise.all(all)
    })
  })
})

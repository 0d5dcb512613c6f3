import { setTimeout as pause, setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import {
  createSingleFlights,
  type SingleFlight,
  singleFlight,
} from '../../../src/core/async/single-flight.ts'
import { Problem } from '../../../src/core/problem.ts'
import { rejection } from '../../support/rejection.ts'

/** Work that continues on request. */
function controlled<T>({ limitMs = 60_000, deaf = false } = {}) {
  let finish: () => void = () => {}
  let fail: (error: unknown) => void = () => {}
  let answer: (value: T) => void = () => {}
  let signal: AbortSignal = AbortSignal.abort('the work has not begun')
  const lateFailures: unknown[] = []
  const shared = singleFlight<T>(
    (aborted, give) => {
      signal = aborted
      answer = give
      return new Promise<void>((resolve, reject) => {
        finish = resolve
        fail = reject
        // Deaf work is like an encoder: it cannot be stopped in its tracks.
        if (!deaf) aborted.addEventListener('abort', () => reject(aborted.reason))
      })
    },
    { limitMs, onLateFailure: (error) => lateFailures.push(error) },
  )
  return {
    shared,
    lateFailures,
    get signal() {
      return signal
    },
    answer: (value: T) => answer(value),
    finish: () => finish(),
    fail: (error: unknown) => fail(error),
  }
}

/** Lets everything run that can run without time passing. */
const settle = async () => {
  for (let i = 0; i < 5; i += 1) await setImmediate()
}

describe('a single flight', () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => unhandled.push(reason)
  before(() => process.on('unhandledRejection', note))
  after(() => process.off('unhandledRejection', note))
  afterEach(async () => {
    await settle()
    expect(unhandled.splice(0), 'unhandled rejections').to.be.empty
  })

  it('gives all callers the same result, including those that join after it', async () => {
    const work = controlled<object>()
    const answers = [work.shared.join(), work.shared.join(), work.shared.join()]
    await settle()
    const answer = {}
    work.answer(answer)
    for (const one of [...answers, work.shared.join()]) expect(await one).to.equal(answer)
    work.finish()
    await work.shared.ended
    expect(await work.shared.join()).to.equal(answer)
  })

  it('runs once for any number of callers', async () => {
    let times = 0
    const shared = singleFlight<number>(
      async (_, answer) => {
        times += 1
        answer(times)
      },
      { limitMs: 1000 },
    )
    expect(await Promise.all(Array.from({ length: 50 }, () => shared.join()))).to.deep.equal(
      Array(50).fill(1),
    )
    expect(times).to.equal(1)
  })

  it('starts at once, but not before the first caller has joined', async () => {
    let begun = false
    const shared = singleFlight<number>(
      async (_, answer) => {
        begun = true
        answer(1)
      },
      { limitMs: 1000 },
    )
    expect(begun).to.equal(false)
    await settle()
    expect(begun).to.equal(true)
    await shared.ended
  })

  it('can give its result before its end', async () => {
    const work = controlled<string>()
    const waiting = work.shared.join()
    let ended = false
    void work.shared.ended.then(() => {
      ended = true
    })
    await settle()
    work.answer('bytes')
    expect(await waiting).to.equal('bytes')
    await settle()
    expect(ended).to.equal(false)
    work.finish()
    await settle()
    expect(ended).to.equal(true)
  })

  it('ignores a second result', async () => {
    const work = controlled<number>()
    const waiting = work.shared.join()
    await settle()
    work.answer(1)
    work.answer(2)
    expect(await waiting).to.equal(1)
    expect(await work.shared.join()).to.equal(1)
    work.finish()
  })

  it('gives all callers the same error', async () => {
    const work = controlled<number>()
    const waiting = [work.shared.join(), work.shared.join()].map(rejection)
    await settle()
    const error = new Error('broken')
    work.fail(error)
    for (const one of waiting) expect(await one).to.equal(error)
    await work.shared.ended
    expect(work.lateFailures).to.be.empty
  })

  it('rejects its callers when the work throws at once', async () => {
    const error = new Error('broken')
    const shared = singleFlight<number>(
      () => {
        throw error
      },
      { limitMs: 1000 },
    )
    expect(await rejection(shared.join())).to.equal(error)
    await shared.ended
  })

  it('does not cause an unhandled rejection without callers', async () => {
    const shared = singleFlight<number>(() => Promise.reject(new Error('broken')), { limitMs: 1000 })
    await shared.ended
  })

  it('passes an error after the result to onLateFailure, and the result stays valid', async () => {
    const work = controlled<number>()
    const waiting = work.shared.join()
    await settle()
    work.answer(1)
    const error = new Error('the disk is full')
    work.fail(error)
    await work.shared.ended
    expect(await waiting).to.equal(1)
    expect(await work.shared.join()).to.equal(1)
    expect(work.lateFailures).to.deep.equal([error])
    expect(work.shared.abandoned).to.equal(false)
  })

  it('ignores an error after the result without onLateFailure', async () => {
    const shared = singleFlight<number>(
      async (_, answer) => {
        answer(1)
        throw new Error('the disk is full')
      },
      { limitMs: 1000 },
    )
    expect(await shared.join()).to.equal(1)
    await shared.ended
  })

  describe('when callers abort', () => {
    it('continues for the others, and rejects the aborted caller with its reason', async () => {
      const work = controlled<number>()
      const first = new AbortController()
      const left = rejection(work.shared.join(first.signal))
      const stayed = work.shared.join(new AbortController().signal)
      await settle()
      const reason = new Error('closed the tab')
      first.abort(reason)
      expect(await left).to.equal(reason)
      await settle()
      expect(work.signal.aborted).to.equal(false)
      expect(work.shared.abandoned).to.equal(false)
      work.answer(7)
      expect(await stayed).to.equal(7)
      work.finish()
    })

    it('is aborted when its last caller aborts', async () => {
      const work = controlled<number>()
      const callers = [new AbortController(), new AbortController()]
      const waiting = callers.map(({ signal }) => rejection(work.shared.join(signal)))
      await settle()
      for (const [i, caller] of callers.entries()) {
        expect(work.signal.aborted, `caller ${i} is still there`).to.equal(false)
        caller.abort()
        await settle()
      }
      await Promise.all(waiting)
      expect(work.signal.aborted).to.equal(true)
      expect(work.signal.reason).to.have.property('name', 'AbortError')
      expect(work.shared.abandoned).to.equal(true)
      await work.shared.ended
      expect(work.lateFailures).to.be.empty
    })

    it('is not aborted after its callers have the result', async () => {
      const work = controlled<number>()
      const waiting = work.shared.join(new AbortController().signal)
      await settle()
      work.answer(1)
      await waiting
      await settle()
      expect(work.signal.aborted).to.equal(false)
      work.finish()
      await work.shared.ended
    })

    it('is not aborted when a caller aborts between result and end', async () => {
      const work = controlled<number>()
      const caller = new AbortController()
      const waiting = work.shared.join(caller.signal)
      await settle()
      work.answer(1)
      await waiting
      caller.abort()
      await settle()
      expect(work.signal.aborted).to.equal(false)
      expect(work.shared.abandoned).to.equal(false)
      work.finish()
      await work.shared.ended
      expect(work.lateFailures).to.be.empty
    })

    it('does not count a caller that has aborted before it joins', async () => {
      const work = controlled<number>()
      const stayed = work.shared.join()
      const reason = new Error('gone already')
      expect(await rejection(work.shared.join(AbortSignal.abort(reason)))).to.equal(reason)
      expect(work.signal.aborted).to.equal(false)
      work.answer(1)
      expect(await stayed).to.equal(1)
      work.finish()
    })

    it('removes its listeners from the signals of its callers', async () => {
      const caller = new AbortController()
      let listeners = 0
      const { addEventListener: add, removeEventListener: remove } = AbortSignal.prototype
      caller.signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners += 1
        add.apply(caller.signal, args)
      }
      caller.signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners -= 1
        remove.apply(caller.signal, args)
      }
      const works = createSingleFlights<number>()
      const start = () => singleFlight<number>(async (_, answer) => answer(1), { limitMs: 1000 })
      for (let i = 0; i < 20; i += 1) await works.join(`work ${i}`, start, caller.signal)
      expect(listeners).to.equal(0)
    })
  })

  describe('at its time limit', () => {
    it('rejects its callers with a 503, even when the work cannot be stopped', async () => {
      const work = controlled<number>({ limitMs: 20, deaf: true })
      const waiting = [work.shared.join(), work.shared.join()].map(rejection)
      for (const one of waiting) {
        expect(await one)
          .to.be.instanceOf(Problem)
          .that.includes({ status: 503, code: 'unavailable' })
      }
      expect(work.signal.aborted).to.equal(true)
      expect(work.shared.abandoned).to.equal(true)
      expect(await rejection(work.shared.join())).to.have.property('status', 503)
      work.finish()
      await work.shared.ended
    })

    it('ignores a result that comes after the limit', async () => {
      const work = controlled<number>({ limitMs: 20, deaf: true })
      const waiting = rejection(work.shared.join())
      expect(await waiting).to.have.property('status', 503)
      work.answer(1)
      expect(work.shared.abandoned).to.equal(true)
      expect(await rejection(work.shared.join())).to.have.property('status', 503)
      const late = new Error('and broken as well')
      work.fail(late)
      await work.shared.ended
      expect(work.lateFailures).to.be.empty
    })

    it('is aborted even after the result, which stays valid', async () => {
      const work = controlled<number>({ limitMs: 20 })
      const waiting = work.shared.join()
      await settle()
      work.answer(1)
      await work.shared.ended
      expect(await waiting).to.equal(1)
      expect(await work.shared.join()).to.equal(1)
      expect(work.shared.abandoned).to.equal(false)
      expect(work.lateFailures).to.have.length(1)
    })

    it('is not aborted after its end', async () => {
      const work = controlled<number>({ limitMs: 100 })
      const waiting = work.shared.join()
      await settle()
      work.answer(1)
      work.finish()
      await waiting
      await pause(150)
      expect(work.signal.aborted).to.equal(false)
    })

    it('clears its timer', async () => {
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
      const before = timers()
      const endings = [
        async (_: AbortSignal, answer: (value: number) => void) => answer(1),
        () => Promise.reject(new Error('broken')),
      ]
      for (let i = 0; i < 100; i += 1) {
        const shared = singleFlight<number>(endings[i % 2] as (typeof endings)[0], { limitMs: 60_000 })
        await shared.join().catch(() => {})
        await shared.ended
      }
      // The runner has timers, too.
      expect(timers()).to.be.below(before + 10)
    })
  })
})

describe('single flights by name', () => {
  /** Starts controlled works, and remembers them. */
  function starter(options: Parameters<typeof controlled>[0] = {}) {
    const started: Array<ReturnType<typeof controlled<number>>> = []
    const start = (): SingleFlight<number> => {
      const work = controlled<number>(options)
      started.push(work)
      return work.shared
    }
    return { started, start }
  }

  it('join running work of the same name, and start work of another name', async () => {
    const works = createSingleFlights<number>()
    const { started, start } = starter()
    const answers = [works.join('a', start), works.join('a', start), works.join('b', start)]
    await settle()
    expect(started).to.have.length(2)
    started[0]?.answer(1)
    started[1]?.answer(2)
    expect(await Promise.all(answers)).to.deep.equal([1, 1, 2])
    for (const work of started) work.finish()
  })

  it('join work that has a result but has not ended', async () => {
    const works = createSingleFlights<number>()
    const { started, start } = starter()
    const first = works.join('a', start)
    await settle()
    started[0]?.answer(1)
    await first
    expect(await works.join('a', start)).to.equal(1)
    expect(started).to.have.length(1)
    started[0]?.finish()
  })

  it('start again after the end, and after a failure', async () => {
    const works = createSingleFlights<number>()
    const { started, start } = starter()
    for (const end of [0, 1, 2]) {
      const waiting = works.join('a', start)
      await settle()
      expect(started).to.have.length(end + 1)
      if (end === 1) {
        started[end]?.fail(new Error('broken'))
        expect(await rejection(waiting)).to.have.property('message', 'broken')
      } else {
        started[end]?.answer(end)
        started[end]?.finish()
        expect(await waiting).to.equal(end)
      }
      await settle()
    }
  })

  it('start again for a caller that asks directly after a result that was the end', async () => {
    const works = createSingleFlights<number>()
    let times = 0
    const start = () =>
      singleFlight<number>(
        async (_, answer) => {
          times += 1
          answer(times)
        },
        { limitMs: 1000 },
      )
    expect(await works.join('a', start)).to.equal(1)
    expect(await works.join('a', start)).to.equal(2)
  })

  it('let a caller wait for the end of abandoned work, then start again', async () => {
    const works = createSingleFlights<number>()
    const { started, start } = starter({ deaf: true })
    const caller = new AbortController()
    const left = rejection(works.join('a', start, caller.signal))
    await settle()
    caller.abort()
    await left
    const later = [works.join('a', start), works.join('a', start)]
    await settle()
    expect(started).to.have.length(1)
    started[0]?.finish()
    await settle()
    expect(started, 'one work for both who came later').to.have.length(2)
    started[1]?.answer(2)
    expect(await Promise.all(later)).to.deep.equal([2, 2])
    started[1]?.finish()
  })

  it('let a caller abort while it waits for the end of abandoned work', async () => {
    const works = createSingleFlights<number>()
    const { started, start } = starter({ deaf: true })
    const callers = [new AbortController(), new AbortController()] as const
    const first = rejection(works.join('a', start, callers[0].signal))
    await settle()
    callers[0].abort()
    await first
    const second = rejection(works.join('a', start, callers[1].signal))
    await settle()
    const reason = new Error('left, too')
    callers[1].abort(reason)
    expect(await second).to.equal(reason)
    started[0]?.finish()
    await settle()
    expect(started).to.have.length(1)
  })

  it('start nothing for a caller that has aborted already', async () => {
    const works = createSingleFlights<number>()
    const { started, start } = starter()
    const reason = new Error('gone already')
    expect(await rejection(works.join('a', start, AbortSignal.abort(reason)))).to.equal(reason)
    await settle()
    expect(started).to.be.empty
  })

  it('are idle when all work has ended, including work that was started in the meantime', async () => {
    const works = createSingleFlights<number>()
    await works.idle()
    const { started, start } = starter()
    const first = works.join('a', start)
    let idle = false
    const waiting = works.idle().then(() => {
      idle = true
    })
    await settle()
    const second = works.join('b', start)
    await settle()
    started[0]?.answer(1)
    started[0]?.finish()
    await first
    await settle()
    expect(idle).to.equal(false)
    started[1]?.fail(new Error('broken'))
    await rejection(second)
    await waiting
    expect(idle).to.equal(true)
  })

  it('survive many callers that join, wait and abort', async () => {
    const works = createSingleFlights<number>()
    let running = 0
    let most = 0
    const start = () =>
      singleFlight<number>(
        async (_, answer) => {
          running += 1
          most = Math.max(most, running)
          await pause(2)
          running -= 1
          answer(1)
        },
        { limitMs: 1000 },
      )
    const outcomes = await Promise.allSettled(
      Array.from({ length: 300 }, async (_, i) => {
        await pause(i % 10)
        const signal = i % 3 === 0 ? AbortSignal.timeout(1) : undefined
        return works.join('a', start, signal)
      }),
    )
    await works.idle()
    expect(most, 'works of one name at a time').to.equal(1)
    expect(running).to.equal(0)
    for (const [i, outcome] of outcomes.entries()) {
      if (i % 3 !== 0) expect(outcome).to.deep.equal({ status: 'fulfilled', value: 1 })
    }
  })
})

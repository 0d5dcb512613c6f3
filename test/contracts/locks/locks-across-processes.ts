import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import { deferred } from '../../../src/core/async/deferred.ts'
import type { Locks } from '../../../src/core/ports/locks.ts'
import { Problem } from '../../../src/core/problem.ts'
import { eventually } from '../../support/eventually.ts'
import { rejection } from '../../support/rejection.ts'
import { itLong } from '../../support/sized.ts'

/** The locks of several processes on one store. */
export interface SeveralLocks {
  processes: readonly ProcessLocks[]
  /** How many processes wait for this key, next to the holder; the dead until their place expires. */
  waiters(key: string): Promise<number>
  close(): Promise<void>
}

/** The locks of one process. */
export interface ProcessLocks {
  locks: Locks
  /** Cuts them off from all others without a word, as a kill does. */
  die(): Promise<void>
}

// Longer than any test runs.
const limitMs = 30_000

/**
 * What {@link Locks} that several processes share have to do beyond the contract of one and two.
 *
 * @param open starts as many processes' locks as asked, on one store, with the given lease
 * @param leaseMs a short lease
 */
export function locksAcrossProcesses(
  name: string,
  open: (count: number, options: { leaseMs: number }) => Promise<SeveralLocks>,
  { leaseMs }: { leaseMs: number },
): void {
  describe(`${name}: Locks across processes`, () => {
    let opened: SeveralLocks
    let key: string

    beforeEach(async () => {
      opened = await open(4, { leaseMs })
      key = `derive client ${Math.random()} a/image/png/1.png_w=1`
    })
    afterEach(() => opened.close())

    /** Waits until so many processes wait for the key, next to the holder. */
    const waiting = (count: number, of = key) =>
      eventually(async () => expect(await opened.waiters(of)).to.equal(count))
    /** A wrong abort or a second run would come in this time. */
    const quiet = () => pause(50)
    const never = async (): Promise<never> => {
      throw new Error('this work was not to be done')
    }
    const of = (number: number) => (opened.processes[number] as ProcessLocks).locks
    const die = (number: number) => (opened.processes[number] as ProcessLocks).die()

    /** Work that ends when the test settles it. */
    function work() {
      let signal: AbortSignal | undefined
      let end: (result: string) => void = () => {}
      let runs = 0
      const ended = new Promise<string>((resolve) => {
        end = resolve
      })
      return {
        do: (given: AbortSignal) => {
          signal = given
          runs += 1
          return ended
        },
        begun: () => eventually(() => expect(runs).to.equal(1)),
        aborted: () => signal?.aborted,
        reason: () => signal?.reason,
        runs: () => runs,
        end: (result: string) => end(result),
      }
    }

    /** A caller who can leave. */
    function caller(number: number, does: (signal: AbortSignal) => Promise<string>) {
      const patience = new AbortController()
      const outcome = of(number).share(key, does, { limitMs, signal: patience.signal })
      outcome.catch(() => {})
      return { outcome, leave: () => patience.abort(new Error('left')) }
    }

    it('run the work once for 100 callers in four processes', async () => {
      let runs = 0
      const does = async () => {
        runs += 1
        await waiting(3)
        return `result ${runs}`
      }
      const asked = Array.from({ length: 100 }, (_, i) => of(i % 4).share(key, does, { limitMs }))
      expect(new Set(await Promise.all(asked))).to.deep.equal(new Set(['result 1']))
      expect(runs).to.equal(1)
    })

    it('fail once for 100 callers in four processes', async () => {
      let runs = 0
      const does = async (): Promise<string> => {
        runs += 1
        await waiting(3)
        throw new Problem({ status: 422, code: 'not_transformable', detail: `broken ${runs}` })
      }
      const asked = Array.from({ length: 100 }, (_, i) => of(i % 4).share(key, does, { limitMs }))
      for (const failure of await Promise.all(asked.map(rejection)))
        expect(failure).to.include({ status: 422, code: 'not_transformable', message: 'broken 1' })
      expect(runs).to.equal(1)
    })

    it('reject a result that cannot be serialised', async () => {
      const circular: { self?: unknown } = {}
      circular.self = circular
      const { promise: begun, resolve: begin } = deferred<void>()
      const first = of(0).share(
        key,
        async () => {
          begin()
          await waiting(1)
          return circular
        },
        { limitMs },
      )
      await begun
      const second = of(1).share(key, never, { limitMs })
      for (const failure of await Promise.all([first, second].map(rejection)))
        expect(failure).to.be.instanceOf(Error).with.property('message').that.includes('circular')
    })

    itLong(
      'continue for callers in other processes when all callers of the holder have left, longer than a lease',
      async () => {
        const one = work()
        const first = [caller(0, one.do), caller(0, never)]
        await one.begun()
        const others = [1, 2, 3].map((number) => caller(number, never))
        await waiting(3)
        for (const each of first) each.leave()
        for (const each of first) expect(await rejection(each.outcome)).to.have.property('message', 'left')
        await pause(leaseMs + 250)
        expect(one.aborted()).to.equal(false)
        one.end('done')
        for (const each of others) expect(await each.outcome).to.equal('done')
      },
    )

    it('abort the work when the last caller of all leaves, in any process', async () => {
      await opened.close()
      // No place expires while the test runs.
      opened = await open(4, { leaseMs: 600_000 })
      const one = work()
      const callers = [caller(0, one.do), ...[1, 2, 3].map((number) => caller(number, never))]
      await one.begun()
      await waiting(3)
      for (const each of callers) {
        await quiet()
        expect(one.aborted()).to.equal(false)
        each.leave()
      }
      await eventually(() => expect(one.aborted()).to.equal(true))
      one.end('too late')
      expect(await of(1).share(key, async () => 'anew', { limitMs })).to.equal('anew')
    })

    it('continue for a caller that joins the holder when the others have left', async () => {
      const one = work()
      const first = caller(0, one.do)
      await one.begun()
      const elsewhere = caller(1, never)
      await waiting(1)
      first.leave()
      await quiet()
      const late = caller(0, never)
      elsewhere.leave()
      await waiting(0)
      await quiet()
      expect(one.aborted()).to.equal(false)
      one.end('done')
      expect(await late.outcome).to.equal('done')
    })

    it('do not wait for a dead caller of another process once its place expires', async () => {
      const one = work()
      const first = caller(0, one.do)
      await one.begun()
      caller(1, never)
      await waiting(1)
      const died = Date.now()
      await die(1)
      first.leave()
      await eventually(() => expect(one.aborted()).to.equal(true))
      // Before, it may still live.
      expect(Date.now() - died).to.be.at.least(leaseMs / 2)
      one.end('too late')
    })

    itLong('do not wait for a dead caller when all others have left after it', async () => {
      const one = work()
      const callers = [caller(0, one.do), caller(2, never)]
      await one.begun()
      caller(1, never)
      await waiting(2)
      await die(1)
      await pause(leaseMs + 250)
      for (const each of callers) each.leave()
      await eventually(() => expect(one.aborted()).to.equal(true))
      one.end('too late')
    })

    it('pass to a waiting caller when the holder dies, within its lease', async () => {
      const [dead, next] = [work(), work()]
      const lost = caller(0, dead.do)
      await dead.begun()
      const others = [1, 2, 3].map((number) => caller(number, next.do))
      await waiting(3)
      const died = Date.now()
      await die(0)
      await next.begun()
      expect(Date.now() - died).to.be.at.least(leaseMs / 2)
      await quiet()
      next.end('taken over')
      for (const each of others) expect(await each.outcome).to.equal('taken over')
      expect(next.runs()).to.equal(1)
      dead.end('of the dead')
      await lost.outcome.catch(() => {})
    })

    it('are free for a new caller when the lease of a dead holder has expired', async () => {
      const dead = work()
      caller(0, dead.do)
      await dead.begun()
      await die(0)
      await pause(leaseMs)
      expect(await of(1).share(key, async () => 'anew', { limitMs })).to.equal('anew')
      dead.end('of the dead')
    })

    it('abort the work of a holder that was disconnected for a lease, and hide its late result', async () => {
      const [cut, next] = [work(), work()]
      const lost = caller(0, cut.do)
      await cut.begun()
      const other = caller(1, next.do)
      await waiting(1)
      await die(0)
      const failure = (await rejection(lost.outcome)) as Problem
      expect(failure).to.be.instanceOf(Problem).with.property('status', 503)
      expect(cut.reason()).to.equal(failure)
      await next.begun()
      cut.end('of the old holder')
      const late = caller(2, never)
      await waiting(1)
      next.end('of the new holder')
      expect(await other.outcome).to.equal('of the new holder')
      expect(await late.outcome).to.equal('of the new holder')
    })

    itLong(
      'report the timeout to other processes at once, and begin again only after the work has ended',
      async () => {
        const old = work()
        const first = of(0).share(key, old.do, { limitMs: 1000 })
        first.catch(() => {})
        await old.begun()
        const other = caller(1, never)
        expect(await rejection(other.outcome))
          .to.be.instanceOf(Problem)
          .with.property('status', 503)
        const order: string[] = []
        const next = [1, 2, 3].map((number) =>
          caller(number, async () => {
            order.push('new')
            return 'new'
          }),
        )
        // Longer than the lease: the lock of work that continues is still renewed.
        await pause(leaseMs + 250)
        order.push('old ends')
        old.end('too late')
        for (const each of next) expect(await each.outcome).to.equal('new')
        expect(order.slice(0, 2)).to.deep.equal(['old ends', 'new'])
      },
    )

    it('never run the work twice at a time, and answer every caller, while processes die', async () => {
      const dead = new Set<number>()
      const working = new Map<string, Set<number>>()
      let most = 0
      const does = (one: string, number: number) => async () => {
        const holders = working.get(one) ?? new Set()
        working.set(one, holders.add(number))
        // The results of a dead process are ignored.
        most = Math.max(most, [...holders].filter((each) => !dead.has(each)).length)
        await pause(5)
        holders.delete(number)
        return `by ${number}`
      }
      const answers: Array<Promise<unknown>> = []
      for (let round = 0; round < 60; round += 1) {
        for (const number of [0, 1, 2, 3].filter((each) => !dead.has(each))) {
          const one = `${key} ${round % 2}`
          const outcome = of(number).share(one, does(one, number), { limitMs })
          answers.push(outcome.catch((error) => dead.has(number) && error instanceof Problem))
        }
        await pause(3)
        if (round === 20 || round === 40) {
          dead.add(round / 20)
          await die(round / 20)
        }
      }
      for (const answer of await Promise.all(answers))
        expect(answer).to.satisfy((one: unknown) => one === true || /^by \d$/.test(String(one)))
      expect(most).to.equal(1)
    })
  })
}
